/**
 * Who may do what: the port that turns a token into claims, and the one place where claims are held against commands and reads.
 * How a token is made and checked is not known here.
 */
import type { Command, CommandKind, SessionId } from "#protocol";
import { ReasonError } from "#protocol";

/** What a capability token allows, by the names it has on the wire. */
export interface Claims {
  /** The token's own id: one client for each. */
  readonly jti: string;
  /** Absent: all. Empty: none. */
  readonly sessions?: readonly SessionId[];
  /** Absent: all. */
  readonly commands?: readonly CommandKind[];
  readonly identity_class: "human" | "agent";
}

export interface PresentedToken {
  readonly token: string;
  /** How the request came. */
  readonly channel: "unix" | "tcp";
}

/** Asked for every request and for every frame. The refusal is told to the client as it is. */
export type Authenticate = (presented: PresentedToken) => Authentication | Promise<Authentication>;

export type Authentication = { readonly claims: Claims } | { readonly refusal: ReasonError };

/** The claims, or the refusal thrown. A check that fails in any other way refuses. */
export async function requireClaims(
  authenticate: Authenticate,
  presented: PresentedToken | undefined,
): Promise<Claims> {
  if (presented === undefined) throw new ReasonError("Unauthorized", { detail: "there is none" });
  let checked: Authentication;
  try {
    checked = await authenticate(presented);
  } catch (cause) {
    throw new ReasonError("Unauthorized", { detail: "it could not be checked" }, { cause });
  }
  if ("refusal" in checked) throw checked.refusal;
  return checked.claims;
}

/** Throws NotAllowed unless the claims cover the command and the session it is for. */
export function authorize(claims: Claims, command: Command): void {
  authorizeKind(claims, command.kind);
  authorizeSession(claims, "session" in command ? command.session : resumedBy(command));
}

export function authorizeKind({ commands, jti }: Claims, kind: CommandKind): void {
  if (commands === undefined || commands.includes(kind)) return;
  throw new ReasonError("NotAllowed", { detail: `The token ${jti} does not allow ${kind}.` });
}

/** Undefined stands for a session that does not exist yet: only a token for all sessions covers that. */
export function authorizeSession({ sessions, jti }: Claims, session: SessionId | undefined): void {
  if (sessions === undefined || (session !== undefined && sessions.includes(session))) return;
  const what = session ?? "new sessions";
  throw new ReasonError("NotAllowed", { detail: `The token ${jti} does not allow ${what}.` });
}

export function coversSession({ sessions }: Claims, session: SessionId): boolean {
  return sessions === undefined || sessions.includes(session);
}

function resumedBy(command: Command): SessionId | undefined {
  return command.kind === "CreateSession" ? command.resume : undefined;
}

/** The token of a request: `X-Harness-Token`, or `Authorization: Bearer` for clients that know only that. */
export function presentedToken(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  channel: PresentedToken["channel"],
): PresentedToken | undefined {
  const own = headers["x-harness-token"];
  if (typeof own === "string" && own !== "") return { token: own, channel };
  const bearer = typeof headers.authorization === "string" ? /^Bearer +(\S+)$/i.exec(headers.authorization) : null;
  return bearer?.[1] === undefined ? undefined : { token: bearer[1], channel };
}
