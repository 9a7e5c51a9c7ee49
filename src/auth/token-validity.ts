/** Whether something that came with a token and had to wait may still be begun: the token was good when it came, and may not be now. */
import type { Clock } from "#base";
import { ReasonError, type TokenId } from "#protocol";
import type { TokenRecords } from "./token-records.ts";

export interface TokenValidityOptions {
  readonly records: Pick<TokenRecords, "list" | "revokedAt">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Undefined, or TokenRevoked or TokenExpired. `ids`: the token and those that it comes from. The token of a run stands for the person
 * whose daemon it is: that the run is over, or the token was renewed, takes nothing back. Throws when the records cannot be read.
 */
export function tokenValidity(
  { records, clock }: TokenValidityOptions,
  { ids, until }: { readonly ids: readonly TokenId[]; readonly until: string },
): ReasonError | undefined {
  const [own] = ids;
  for (const jti of ids) {
    const revoked = records.revokedAt({ jti });
    if (revoked !== undefined && !revoked.isRunOver) {
      return ReasonError.withMessage("TokenRevoked", `Its token, ${own}, was revoked at ${revoked.at}.`);
    }
  }
  const isOfRun = (): boolean => records.list().some(({ claims, run }) => claims.jti === own && run !== undefined);
  // A time that cannot be read is over.
  if (clock.now() < Date.parse(until) || isOfRun()) return undefined;
  return ReasonError.withMessage("TokenExpired", `Its token, ${own}, expired at ${until}.`);
}
