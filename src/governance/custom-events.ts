/**
 * `custom.*` events that scripts emit: recorded at once, their hooks asked afterwards. A hook may emit in turn, so there are three
 * bounds: how long such a chain gets, how many events one turn has, and how many wait. What goes beyond is left out and told.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, messageOf } from "#base";
import { type EventBus, type HookDispatcher, type HookPoint, note } from "#engine";
import type { SessionId, TurnId } from "#protocol";

/** An event that a hook emits is one deeper than the event that it was asked about. */
export const MAX_EMIT_DEPTH = 8;
export const MAX_EVENTS_PER_TURN = 1_000;
/** Events whose hooks have not answered yet. */
export const MAX_WAITING_EVENTS = 200;
/** How long the end of a session waits for hooks that are still asked. */
const CLOSE_WAIT_MS = 2_000;
/** Turns that are counted at once: hooks may still emit for one that has ended. */
const MAX_COUNTED_TURNS = 16;

export interface CustomEventsOptions {
  /** Asked at each event, for a session has its bus later than its scripts. Both throw for one that is over. */
  readonly bus: (session: SessionId) => Pick<EventBus, "publishSoon">;
  readonly hooks: (session: SessionId) => HookDispatcher;
  readonly clock: Pick<Clock, "sleep">;
}

export interface CustomEvents {
  /** Never throws. */
  emit(event: string, payload: unknown, at: Omit<HookPoint, "signal">): void;
  /** Lets the hooks that are asked finish, for a while, and asks no more. The bus must still be there. */
  close(): Promise<void>;
}

export function createCustomEvents({ bus, hooks, clock }: CustomEventsOptions): CustomEvents {
  const depths = new AsyncLocalStorage<number>();
  const counts = new Map<TurnId | undefined, number>();
  const waiting = new Set<Promise<void>>();
  const ended = new AbortController();
  let closed = false;

  function tell({ session, turn }: Pick<HookPoint, "session" | "turn">, message: string): void {
    const where = turn === undefined ? {} : { turn };
    note(bus(session), "ScriptLogged", { ...where, source: "built-in: emit", level: "error", message });
  }

  /** How many this turn has had, with this one. */
  function count(turn: TurnId | undefined): number {
    const next = (counts.get(turn) ?? 0) + 1;
    counts.set(turn, next);
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTED_TURNS) counts.delete(oldest);
    return next;
  }

  async function ask(event: string, payload: unknown, at: Omit<HookPoint, "signal">): Promise<void> {
    // The script that emitted goes on first.
    await new Promise((resolve) => setImmediate(resolve));
    if (ended.signal.aborted) return;
    try {
      await hooks(at.session).dispatch(event, payload, { ...at, signal: ended.signal });
    } catch (error) {
      tell(at, `the hooks of ${event} could not run: ${messageOf(error)}`);
    }
  }

  return {
    emit(event, payload, at) {
      const { turn } = at;
      const soFar = count(turn);
      if (soFar > MAX_EVENTS_PER_TURN) {
        if (soFar > MAX_EVENTS_PER_TURN + 1) return;
        return tell(
          at,
          `more than ${MAX_EVENTS_PER_TURN} events in one turn: Harness drops ${event} and all later events`,
        );
      }
      note(bus(at.session), "CustomEvent", { namespace: "custom", kind: event, payload });
      if (hooks(at.session).idle(event)) return;
      const depth = depths.getStore() ?? 0;
      if (depth >= MAX_EMIT_DEPTH) {
        return tell(at, `${event} was emitted ${MAX_EMIT_DEPTH} hooks deep: its hooks do not run`);
      }
      if (waiting.size >= MAX_WAITING_EVENTS) {
        return tell(at, `more than ${MAX_WAITING_EVENTS} events are waiting: the hooks of ${event} do not run`);
      }
      if (closed) return tell(at, `the session is ending: the hooks of ${event} do not run`);
      const asked = depths.run(depth + 1, () => ask(event, payload, at));
      waiting.add(asked);
      void asked.finally(() => waiting.delete(asked));
    },
    async close() {
      closed = true;
      const answered = new AbortController();
      const all = Promise.all(waiting).then(() => answered.abort());
      await Promise.race([all, clock.sleep(CLOSE_WAIT_MS, answered.signal)]);
      ended.abort();
    },
  };
}
