/** One run of one scenario on one target: its connections and the results of its checks. */
import type { Clock } from "#base";
import type { Caller, Connection, Feed, Sighting, Target } from "./driver.ts";
import type { RequirementId } from "./requirements.ts";

export interface Trial {
  readonly target: Target;
  /** Connects a new client and completes its handshake. */
  connect(as?: Caller): Promise<Connection>;
  /** Adopts a client that was made elsewhere, so that the trial closes it. */
  keep(connection: Connection): void;
  /** Creates a session on the connection. */
  session(connection: Connection): Promise<string>;
  /** Checks a fact for a requirement that the scenario cites. The first failed check ends the trial. */
  check(id: RequirementId, holds: boolean, otherwise: string): void;
  /** Waits. */
  pause(ms: number): Promise<void>;
}

/** Thrown when a run shows that the target or the caller cannot do what the scenario needs. */
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
  /** Requirements whose checks passed so far. */
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
      if (!ok) throw new Error(`the server refused the handshake of the ${as}: ${reason}`);
      return connection;
    },
    keep: (connection) => void open.push(connection),
    async session(connection) {
      const { session, reason } = await connection.create();
      if (session === undefined) throw new Error(`the server did not create a session: ${reason}`);
      return session;
    },
    pause: (ms) => clock.sleep(ms),
    check(id, holds, otherwise) {
      if (!cites.includes(id)) throw new Error(`the scenario checks ${id} but does not cite it`);
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
