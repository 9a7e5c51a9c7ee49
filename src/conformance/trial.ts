/** One run of one scenario on one target: its connections, and what its checks came to. */
import type { Clock } from "#base";
import type { Caller, Connection, Feed, Sighting, Target } from "./driver.ts";
import type { RequirementId } from "./requirements.ts";

export interface Trial {
  readonly target: Target;
  /** A new client; hands are shaken. */
  connect(as?: Caller): Promise<Connection>;
  /** A client that was made elsewhere: it is closed with the trial. */
  keep(connection: Connection): void;
  /** A new session on it. */
  session(connection: Connection): Promise<string>;
  /** Holds a fact against a requirement that the scenario cites. The first that does not hold ends the trial. */
  check(id: RequirementId, holds: boolean, otherwise: string): void;
  /** Time goes by here. */
  pause(ms: number): Promise<void>;
}

/** The target has shown that it, or whoever calls, cannot do what the scenario needs. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
  readonly requirement: RequirementId;

  constructor(requirement: RequirementId, message: string) {
    super(message);
    this.requirement = requirement;
  }
}

export interface OpenTrial extends Trial {
  /** Checks that held, by requirement. */
  readonly held: ReadonlySet<RequirementId>;
  close(): Promise<void>;
}

export function createTrial(target: Target, cites: readonly RequirementId[], clock: Pick<Clock, "sleep">): OpenTrial {
  const open: Connection[] = [];
  const held = new Set<RequirementId>();
  return {
    target,
    held,
    async connect(as = "human") {
      const connection = await target.connect(as);
      open.push(connection);
      const { ok, reason } = await connection.handshake();
      if (!ok) throw new Error(`the handshake of the ${as} was refused: ${reason}`);
      return connection;
    },
    keep: (connection) => void open.push(connection),
    async session(connection) {
      const { session, reason } = await connection.create();
      if (session === undefined) throw new Error(`no session was made: ${reason}`);
      return session;
    },
    pause: (ms) => clock.sleep(ms),
    check(id, holds, otherwise) {
      if (!cites.includes(id)) throw new Error(`the scenario checks ${id} and does not cite it`);
      if (!holds) throw new CheckFailed(id, otherwise);
      held.add(id);
    },
    async close() {
      // A connection that is gone already, with its server, has nothing to close.
      await Promise.all(open.map((connection) => connection.close().catch(() => undefined)));
    },
  };
}

export function isKind(kind: string): (one: { readonly kind: string }) => boolean {
  return (one) => one.kind === kind;
}

/** Waits for the n-th sighting of a kind. */
export function nth(feed: Feed, kind: string, n: number): Promise<Sighting> {
  const isNth = (sighting: Sighting): boolean => feed.seen.filter(isKind(kind))[n - 1] === sighting;
  return feed.until(isNth, n === 1 ? kind : `${kind} number ${n}`);
}
