/** What every command that has to do with tokens is put together from: the key, the records and the check. */

import { join } from "node:path";
import {
  type Authenticator,
  type Claims,
  createAuthenticator,
  createFailureLimit,
  createTokenRecords,
  createTokenTimes,
  TOKEN_FILE_NAME,
  TOKEN_KEY_PURPOSE,
  type TokenRecords,
  type TokenTimes,
} from "#auth";
import { deriveKey, harnessPaths, machineKeySource } from "#stores";
import type { ProgramPorts } from "./ports.ts";

export interface TokenParts {
  readonly key: () => Uint8Array;
  readonly records: TokenRecords;
  readonly times: TokenTimes;
  readonly authenticator: Authenticator;
}

export function tokenParts({ env, clock }: Pick<ProgramPorts, "env" | "clock">): TokenParts {
  const machine = machineKeySource(env);
  let derived: Uint8Array | undefined;
  const key = (): Uint8Array => {
    derived ??= deriveKey(machine(), TOKEN_KEY_PURPOSE);
    return derived;
  };
  const records = createTokenRecords(harnessPaths(env).stateDir);
  const times = createTokenTimes({ clock, records });
  const authenticator = createAuthenticator({ key, records, times, failures: createFailureLimit({ clock }) });
  return { key, records, times, authenticator };
}

/** The token file that is looked at when none is named. */
export function defaultTokenFile({ env }: Pick<ProgramPorts, "env">): string {
  return join(harnessPaths(env).configDir, TOKEN_FILE_NAME);
}

/** One line for a person. */
export function describeClaims({ jti, identity_class, sessions, commands: verbs, exp, can_mint }: Claims): string {
  const where = sessions === undefined ? "in all sessions" : `in ${sessions.join(", ") || "no session"}`;
  const mints = can_mint ? "; may mint further tokens" : "";
  return `${jti}: ${identity_class}, ${verbs.join(", ")} ${where}, until ${timeOf(exp)} UTC${mints}`;
}

export function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}
