/** The client behind a token: one id for all its requests and streams, and whether it has shaken hands. */

import { type Claims, checkScope } from "#auth";
import { defined } from "#base";
import type { ClientOptions, Control, ControlClient, Reply } from "#control";
import { type ClientId, type CommandKind, type CommandOf, ReasonError, type SessionId } from "#protocol";
import { authorize, authorizeRead } from "./access.ts";

export interface Principal {
  readonly id: ClientId;
  readonly claims: Claims;
  /** Every command of every wire goes through here, and nowhere else are claims held against it. */
  submit<Kind extends CommandKind>(command: CommandOf<Kind>, through?: ControlClient): Promise<Reply<Kind>>;
  /** For what is done without a command of its own: as if it were this one. Without a session: for a new one. Throws TokenScope. */
  allow(kind: CommandKind, session?: SessionId): void;
  /** Throws TokenScope. */
  mayRead(session: SessionId): void;
  shakeHands(): void;
  /** Throws HandshakeRequired. */
  requireHandshake(): void;
}

export interface Principals {
  of(claims: Claims): Principal;
  readonly size: number;
}

interface Known {
  readonly sender: ControlClient;
  hasShakenHands: boolean;
}

/** At most `limit` tokens are known; the one that was not used for longest has to shake hands again. */
export function createPrincipals(control: Control, limit: number): Principals {
  const known = new Map<string, Known>();

  function find(claims: Claims): Known {
    const key = `${claims.identity_class} ${claims.jti}`;
    const entry = known.get(key) ?? {
      sender: control.connect({
        identityClass: claims.identity_class,
        interactive: false,
        token: inputToken(claims),
      }),
      hasShakenHands: false,
    };
    known.delete(key);
    known.set(key, entry);
    for (const oldest of known.keys()) {
      if (known.size <= limit) break;
      known.delete(oldest);
    }
    return entry;
  }

  return {
    of(claims) {
      const entry = find(claims);
      return {
        id: entry.sender.id,
        claims,
        async submit(command, through = entry.sender) {
          authorize(claims, command);
          return through.submit(command);
        },
        allow: (command, session) => checkScope(claims, { command, ...defined({ session }) }),
        mayRead: (session) => authorizeRead(claims, session),
        shakeHands() {
          entry.hasShakenHands = true;
        },
        requireHandshake() {
          if (!entry.hasShakenHands) throw new ReasonError("HandshakeRequired");
        },
      };
    },
    get size() {
      return known.size;
    },
  };
}

/** What the log keeps of a token with an input that has to wait. */
export function inputToken({ jti, minted_by = [], exp }: Claims): NonNullable<ClientOptions["token"]> {
  return { ids: [jti, ...minted_by], until: new Date(exp * 1000).toISOString() };
}
