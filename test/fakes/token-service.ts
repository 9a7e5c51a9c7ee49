/** What a server checks and makes tokens with: records in a real folder, and a key that only tests have. */
import {
  type ConfirmationChannel,
  createAuthenticator,
  createFailureLimit,
  createIssuance,
  createTokenDesk,
  createTokenRecords,
  createTokenTimes,
  type TokenDesk,
  type TokenRecords,
  type TokenTimes,
  tokenValidity,
} from "#auth";
import type { Clock } from "#base";
import type { CheckToken } from "#engine";
import type { TokenId } from "#protocol";
import { commands } from "#protocol/schemas";
import { type Authenticate, authenticateWith } from "#transports/http";
import { createSystemRandom } from "#world";

export const TOKEN_KEY = new Uint8Array(32).fill(7);

export interface TokenService {
  readonly records: TokenRecords;
  readonly times: TokenTimes;
  readonly authenticate: Authenticate;
  readonly checkToken: CheckToken;
  desk(...channels: readonly ConfirmationChannel[]): TokenDesk;
}

export function createTokenService(folder: string, clock: Clock, newId: () => TokenId): TokenService {
  const records = createTokenRecords(folder);
  const times = createTokenTimes({ clock, records });
  const shared = { key: () => TOKEN_KEY, records, clock };
  return {
    records,
    times,
    authenticate: authenticateWith(createAuthenticator({ ...shared, times, failures: createFailureLimit({ clock }) })),
    checkToken: async (token) => tokenValidity({ records, clock }, token),
    desk: (...channels) =>
      createTokenDesk({
        ...shared,
        newId,
        knownCommands: Object.keys(commands),
        issuance: createIssuance({ clock, random: createSystemRandom(), channels }),
        failures: createFailureLimit({ clock }),
      }),
  };
}
