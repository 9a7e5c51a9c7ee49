/**
 * Who may do what: the port that turns a token into claims, and the one place where claims are held against commands and reads.
 * How a token is made and checked is not known here.
 */

import { type Authenticator, type Claims, checkScope, checkSession } from "#auth";
import { defined } from "#base";
import { asCommand, type CommandKind, type CommandOf, ReasonError, type SessionId, sessionOf } from "#protocol";
import { asReasonError } from "./failure.ts";

/** How a request came: over a Unix socket, a loopback port, or an address that other machines can reach. */
export type Channel = "unix" | "tcp" | "lan";

export interface PresentedToken {
  readonly token: string;
  readonly channel: Channel;
  /** Whoever presents it, for the limit on failures: the same text for the same peer. */
  readonly source: string;
}

/** Asked for every request and for every frame. The refusal is told to the client as it is. */
export type Authenticate = (presented: PresentedToken) => Authentication | Promise<Authentication>;

export type Authentication = { readonly claims: Claims } | { readonly refusal: ReasonError };

/** The port in front of an authenticator, whose refusals become data. */
export function authenticateWith(authenticator: Pick<Authenticator, "authenticate">): Authenticate {
  return ({ token, source }) => {
    try {
      return { claims: authenticator.authenticate(token, source) };
    } catch (error) {
      if (error instanceof ReasonError) return { refusal: error };
      throw error;
    }
  };
}

/** The claims, or the refusal thrown. A check that fails in any other way refuses. */
export async function requireClaims(
  authenticate: Authenticate,
  presented: PresentedToken | undefined,
): Promise<Claims> {
  if (presented === undefined) throw new ReasonError("TokenRequired");
  let checked: Authentication;
  try {
    checked = await authenticate(presented);
  } catch (cause) {
    throw new ReasonError("TokenInvalid", "it could not be checked", { cause });
  }
  if ("refusal" in checked) throw checked.refusal;
  const { claims } = checked;
  // Whatever it allows: a token for everything stays on its machine.
  if (presented.channel === "lan" && claims.sessions === undefined) {
    throw new ReasonError("TokenScope", { jti: claims.jti, what: "all sessions, from another machine" });
  }
  return claims;
}

/** The same as data: undefined when the token holds. */
export async function refusalOf(
  authenticate: Authenticate,
  presented: PresentedToken | undefined,
): Promise<ReasonError | undefined> {
  try {
    await requireClaims(authenticate, presented);
    return undefined;
  } catch (cause) {
    return asReasonError(cause);
  }
}

/** Throws TokenScope unless the claims cover the command and the session it is for. */
export function authorize<Kind extends CommandKind>(claims: Claims, command: CommandOf<Kind>): void {
  checkScope(claims, { command: command.kind, ...defined({ session: sessionOf(asCommand(command)) }) });
}

/** Throws TokenScope. */
export function authorizeRead(claims: Claims, session: SessionId): void {
  checkSession(claims, session, "reading");
}
