/**
 * What a capability token says: which sessions, which commands, on whose behalf, from when to when. Pure. Claims that are not known
 * are passed over, unless the token itself says that it must not be used by whoever does not know them.
 */
import { defined, isRecord, wordSet } from "#base";
import { type CommandKind, ReasonError, SessionId, TokenId } from "#protocol";

/** Of the claim set; a token of another version is refused. */
export const CLAIMS_VERSION = 1;
/** A client is told so long before the end of its token. */
export const EXPIRING_SECONDS = 5 * 60;
/** What a client is already attached to goes on for so long after it. */
export const DRAIN_SECONDS = 60;
/**
 * How far the wall clock may step without any token noticing. Larger steps are believed, because a machine that was suspended looks the
 * same: see `token-times.ts`.
 */
export const CLOCK_LEEWAY_SECONDS = 10;
export const CLAIM_ENTRIES_MAX = 200;
/** How many tokens may stand between one and the first, which a person confirmed. */
export const MINTED_BY_MAX = 8;

export interface Claims {
  readonly ver: typeof CLAIMS_VERSION;
  readonly jti: TokenId;
  /** Absent: all sessions, also later ones. Empty: none. */
  readonly sessions?: readonly SessionId[];
  readonly commands: readonly string[];
  readonly identity_class: "human" | "agent";
  /** Unix seconds; not valid before, and not from the second one on. */
  readonly nbf: number;
  readonly exp: number;
  readonly can_mint: boolean;
  /** The tokens it comes from, the nearest first: with one of them it is revoked, too. */
  readonly minted_by?: readonly TokenId[];
  /** Whoever does not know one of these must refuse the token. */
  readonly critical_claims: readonly string[];
}

/** What every token says about itself; `sessions` is added where it is there. */
const CRITICAL = ["commands", "identity_class", "exp", "nbf"] as const;

const KNOWN: ReadonlySet<string> = wordSet(
  "ver jti sessions commands identity_class nbf exp can_mint minted_by critical_claims",
);

/** In the order in which claims are written, so that the same claims are the same bytes. */
export function completeClaims(claims: Omit<Claims, "ver" | "critical_claims">): Claims {
  const { jti, sessions, commands, identity_class, nbf, exp, can_mint, minted_by } = claims;
  return {
    ver: CLAIMS_VERSION,
    jti,
    ...defined({ sessions }),
    commands,
    identity_class,
    nbf,
    exp,
    can_mint,
    ...(minted_by === undefined || minted_by.length === 0 ? {} : { minted_by }),
    critical_claims: [
      ...(sessions === undefined ? [] : ["sessions"]),
      ...CRITICAL,
      ...(minted_by === undefined || minted_by.length === 0 ? [] : ["minted_by"]),
    ],
  };
}

/** Throws TokenInvalid with what is wrong. Version and critical claims are looked at before anything else. */
export function parseClaims(raw: unknown): Claims {
  if (!isRecord(raw)) throw invalid("it contains no claims");
  if (raw.ver !== CLAIMS_VERSION) throw invalid(`its version is not ${CLAIMS_VERSION}`);
  const critical = raw.critical_claims ?? [];
  if (!isTextList(critical)) throw invalid("critical_claims is not a list of names");
  const unknown = critical.find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw invalid(`it requires the claim '${unknown.slice(0, 50)}', which this version does not know`);
  const absent = critical.find((name) => !Object.hasOwn(raw, name));
  if (absent !== undefined) throw invalid(`it requires the claim '${absent}' but does not contain it`);
  const { jti, sessions, commands, identity_class, nbf, exp, can_mint, minted_by } = raw;
  if (typeof jti !== "string" || !TokenId.is(jti)) throw invalid("its jti is not an id");
  if (sessions !== undefined && !(isTextList(sessions) && sessions.every((id) => SessionId.is(id)))) {
    throw invalid("sessions is not a list of session ids");
  }
  if (!isTextList(commands)) throw invalid("commands is not a list of names");
  if (identity_class !== "human" && identity_class !== "agent")
    throw invalid("identity_class is neither human nor agent");
  if (!isSeconds(nbf) || !isSeconds(exp) || nbf >= exp)
    throw invalid("nbf and exp must be times, and exp must be later");
  if (typeof can_mint !== "boolean") throw invalid("can_mint is neither true nor false");
  if (minted_by !== undefined) {
    const isChain =
      isTextList(minted_by) && minted_by.length <= MINTED_BY_MAX && minted_by.every((id) => TokenId.is(id));
    if (!isChain) throw invalid("minted_by is not a list of token ids");
  }
  return {
    ver: CLAIMS_VERSION,
    jti,
    ...defined({ sessions: sessions?.filter((id) => SessionId.is(id)) }),
    commands,
    identity_class,
    nbf,
    exp,
    can_mint,
    ...defined({ minted_by: minted_by?.filter((id) => TokenId.is(id)) }),
    critical_claims: critical,
  };
}

/**
 * `early`: its time is more than the leeway away. `expiring`: its client is to be told. `draining`: no commands any more; what is
 * attached goes on for a moment.
 */
export type TokenPhase = "early" | "valid" | "expiring" | "draining" | "expired";

export function phaseOf({ nbf, exp }: Pick<Claims, "nbf" | "exp">, nowMs: number): TokenPhase {
  const now = nowMs / 1000;
  if (now < nbf - CLOCK_LEEWAY_SECONDS) return "early";
  if (now < exp) return exp - now <= EXPIRING_SECONDS ? "expiring" : "valid";
  return now < exp + DRAIN_SECONDS ? "draining" : "expired";
}

/** Throws TokenScope. Without a session: a command that is for none, such as CreateSession. */
export function checkScope(
  { jti, sessions, commands }: Claims,
  { command, session }: { readonly command: CommandKind; readonly session?: SessionId },
): void {
  if (!commands.includes(command)) throw new ReasonError("TokenScope", { jti, what: command });
  if (session !== undefined) checkSession({ jti, ...defined({ sessions }) }, session, command);
  // A new session is none of those that are listed.
  else if (sessions !== undefined)
    throw new ReasonError("TokenScope", { jti, what: `${command} outside its sessions` });
}

/** Throws TokenScope; `what` is done in the session. */
export function checkSession(claims: Pick<Claims, "jti" | "sessions">, session: SessionId, what: string): void {
  if (coversSession(claims, session)) return;
  throw new ReasonError("TokenScope", { jti: claims.jti, what: `${what} in ${session}` });
}

export function coversSession({ sessions }: Pick<Claims, "sessions">, session: SessionId): boolean {
  return sessions === undefined || sessions.includes(session);
}

/** Whether everything that `asked` allows is allowed by `claims` as well; when it ends is another matter. */
export function coversClaims(claims: Claims, asked: Claims): boolean {
  const { sessions } = asked;
  return (
    (claims.identity_class === "human" || asked.identity_class === "agent") &&
    asked.commands.every((name) => claims.commands.includes(name)) &&
    (sessions === undefined
      ? claims.sessions === undefined
      : sessions.every((session) => coversSession(claims, session)))
  );
}

export function invalid(detail: string): ReasonError {
  return new ReasonError("TokenInvalid", detail);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= CLAIM_ENTRIES_MAX && value.every((entry) => typeof entry === "string");
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
