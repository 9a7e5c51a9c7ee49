/** New claims from what is asked for, never more than those of the token that asks. Pure. */
import { defined } from "#base";
import { ReasonError, type SessionId, type TokenId } from "#protocol";
import { CLAIM_ENTRIES_MAX, type Claims, completeClaims, MINTED_BY_MAX } from "./claims.ts";

export const DEFAULT_TTL_SECONDS = 24 * 60 * 60;
export const MAX_TTL_SECONDS = 90 * 24 * 60 * 60;

/** To watch a session and talk in it; answers of a person are never among what nobody asked for. */
export const DEFAULT_COMMANDS = ["AttachSession", "DetachSession", "SendInput", "CancelTurn"] as const;

export interface TokenRequest {
  /** `all` is for the first token alone, which a person confirms. */
  readonly sessions: readonly SessionId[] | "all";
  readonly commands: readonly string[];
  readonly identityClass: "human" | "agent";
  readonly ttlSeconds?: number;
  readonly canMint?: boolean;
}

export interface MintContext {
  readonly jti: TokenId;
  readonly nowMs: number;
  /** Every command there is. */
  readonly knownCommands: readonly string[];
  /** The token that asks; absent when a person has confirmed the request. */
  readonly parent?: Claims;
}

/** Throws UsageInvalid for a request that makes no sense, TokenScope for one that wants more than `parent` has. */
export function mintClaims(request: TokenRequest, { jti, nowMs, knownCommands, parent }: MintContext): Claims {
  const { commands, identityClass, ttlSeconds = DEFAULT_TTL_SECONDS, canMint = false } = request;
  const unknown = commands.find((name) => !knownCommands.includes(name));
  if (unknown !== undefined)
    throw new ReasonError(
      "UsageInvalid",
      `there is no command '${unknown}'; the commands are: ${knownCommands.join(", ")}`,
    );
  if (commands.length === 0) throw new ReasonError("UsageInvalid", "a token needs at least one command");
  if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > MAX_TTL_SECONDS) {
    throw new ReasonError("UsageInvalid", `a token can last from one second to ${MAX_TTL_SECONDS / 86_400} days`);
  }
  const sessions = request.sessions === "all" ? undefined : [...new Set(request.sessions)];
  if ((sessions?.length ?? 0) > CLAIM_ENTRIES_MAX)
    throw new ReasonError("UsageInvalid", `a token can name at most ${CLAIM_ENTRIES_MAX} sessions`);
  // Not before the one that mints it, also when the clock was set back since that was made.
  const nbf = Math.max(Math.floor(nowMs / 1000), parent?.nbf ?? 0);
  const claims = completeClaims({
    jti,
    ...defined({ sessions }),
    commands: [...new Set(commands)],
    identity_class: identityClass,
    nbf,
    // A token that another one mints ends with it at the latest.
    exp: Math.min(nbf + ttlSeconds, parent?.exp ?? Number.POSITIVE_INFINITY),
    can_mint: canMint,
    ...(parent === undefined ? {} : { minted_by: [parent.jti, ...(parent.minted_by ?? [])] }),
  });
  if (parent !== undefined) checkNarrower(claims, parent, nowMs);
  return claims;
}

function checkNarrower(claims: Claims, parent: Claims, nowMs: number): void {
  const beyond = (what: string): ReasonError => new ReasonError("TokenScope", { jti: parent.jti, what });
  if (!parent.can_mint) throw beyond("minting further tokens");
  // Whoever checked it has judged its beginning, on a clock that may have been set back since.
  if (nowMs / 1000 >= parent.exp) throw beyond("minting after it has expired");
  if ((claims.minted_by?.length ?? 0) > MINTED_BY_MAX)
    throw beyond("minting a token so many levels below the first one");
  if (claims.identity_class === "human" && parent.identity_class === "agent")
    throw beyond("minting a token for a human");
  const command = claims.commands.find((name) => !parent.commands.includes(name));
  if (command !== undefined) throw beyond(`minting ${command}`);
  if (parent.sessions === undefined && claims.sessions !== undefined) return;
  // Of the first token alone: whoever minted from it would be as good as it, and not on any list.
  if (claims.sessions === undefined) throw beyond("minting a token for all sessions");
  const session = claims.sessions.find((id) => !parent.sessions?.includes(id));
  if (session !== undefined) throw beyond(`minting for ${session}`);
}
