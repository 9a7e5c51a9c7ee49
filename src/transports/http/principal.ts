/**
 * Who is behind a request: the claims of its token, and the client of its attachment. A token is no client: whoever attaches with it
 * is one of its own.
 */

import { type Claims, checkScope } from "#auth";
import { defined } from "#base";
import type { ClientOptions, Control, ControlClient, Reply } from "#control";
import { type ClientId, type CommandKind, type CommandOf, ReasonError, type SessionId } from "#protocol";
import { authorize, authorizeRead } from "./access.ts";

/** Names the client of an earlier handshake. */
export const CLIENT_HEADER = "x-harness-client";

export interface Principal {
  /** Of the client that the request names, or of one for this request alone. */
  readonly id: ClientId;
  readonly claims: Claims;
  readonly name: string | undefined;
  /** Every command of every wire goes through here, and nowhere else are claims held against it. */
  submit<Kind extends CommandKind>(command: CommandOf<Kind>, through?: ControlClient): Promise<Reply<Kind>>;
  /** For what is done without a command of its own: as if it were this one. Without a session: for a new one. Throws TokenScope. */
  allow(kind: CommandKind, session?: SessionId): void;
  /** Throws TokenScope. */
  mayRead(session: SessionId): void;
  /** For the token: its requests are served from now on. */
  shakeHands(): void;
  /** Later requests with the same token may name this client. */
  remember(): ClientId;
  /** Throws HandshakeRequired: the token has shaken no hands, or not for the client that the request names. */
  requireHandshake(): void;
}

export interface Principals {
  /** `named`: the client that the request says it is; `name`: what it calls itself. */
  of(claims: Claims, named?: string, name?: string): Principal;
  /** Tokens that have shaken hands. */
  readonly size: number;
}

/** At most `limit` tokens and as many clients are known; the one that was not used for longest has to shake hands again. */
export function createPrincipals(control: Control, limit: number): Principals {
  /** Tokens that have shaken hands. */
  const shaken = new Map<string, true>();
  /** Those that requests may name, each with its token. */
  const clients = new Map<string, { readonly sender: ControlClient; readonly token: string }>();

  function clientNamed(name: string, token: string): ControlClient | undefined {
    const found = clients.get(name);
    if (found === undefined || found.token !== token) return undefined;
    keep(clients, name, found, limit);
    return found.sender;
  }

  return {
    of(claims, named, name) {
      const token = `${claims.identity_class} ${claims.jti}`;
      if (shaken.has(token)) keep(shaken, token, true, limit);
      const known = named === undefined ? undefined : clientNamed(named, token);
      let own = known;
      const sender = (): ControlClient => {
        own ??= control.connect({ ...clientOf(claims), ...defined({ name }) });
        return own;
      };
      return {
        name,
        get id() {
          return sender().id;
        },
        claims,
        async submit(command, through = sender()) {
          authorize(claims, command);
          return through.submit(command);
        },
        allow: heldTo(claims).allow,
        mayRead: (session) => authorizeRead(claims, session),
        shakeHands: () => keep(shaken, token, true, limit),
        remember() {
          const { id } = sender();
          keep(clients, id, { sender: sender(), token }, limit);
          return id;
        },
        requireHandshake() {
          if (!shaken.has(token) || (named !== undefined && known === undefined)) {
            throw new ReasonError("HandshakeRequired");
          }
        },
      };
    },
    get size() {
      return shaken.size;
    },
  };
}

function clientOf(claims: Claims): ClientOptions {
  return { identityClass: claims.identity_class, interactive: false, transport: "http", ...heldTo(claims) };
}

/** As the one that was used last; the first ones go beyond the limit. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}

/** What the control needs to know of a token: until when an input may wait, and what else the client may do. */
export function heldTo(claims: Claims): Required<Pick<ClientOptions, "token" | "allow">> {
  return {
    token: inputToken(claims),
    allow: (command, session) => checkScope(claims, { command, ...defined({ session }) }),
  };
}

/** What the log keeps of a token with an input that has to wait. */
function inputToken({ jti, minted_by = [], exp }: Claims): NonNullable<ClientOptions["token"]> {
  return { ids: [jti, ...minted_by], until: new Date(exp * 1000).toISOString() };
}
