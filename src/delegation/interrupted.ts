/**
 * Delegates that worked when the program stopped: they get their end on the record when the session is opened again, with the calls of
 * theirs that were cut off, for nobody else will ever be told of those.
 */

import { type EventBus, reopenSession, type SessionLog, type SessionStore, type Spent, sumOf } from "#engine";
import { type EventPayload, ReasonError, type SessionId } from "#protocol";
import { delegationToolNames } from "#tools";

/** Calls that are told of. */
const MAX_CUT_OFF = 50;

type CutOff = NonNullable<EventPayload<"DelegationEnded">["cut_off"]>;
type Store = Pick<SessionStore, "get" | "update" | "acquire" | "read" | "historyStart">;

export async function endInterrupted(
  open: readonly EventPayload<"DelegationStarted">[],
  bus: Pick<EventBus, "publish">,
  store: Store,
): Promise<void> {
  for (const { turn, call_id, session, agent, mode } of open) {
    const { cutOff, used } = await endBelow(session, store);
    await bus.publish("DelegationEnded", {
      ...{ turn, call_id, session, agent, mode, status: "interrupted", reason: "Interrupted" },
      usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
      ...{ steps: 0, tool_calls: 0, duration_ms: 0 },
      ...(used.steps + used.calls === 0 ? {} : { tree_total: used }),
      ...(cutOff.length === 0 ? {} : { cut_off: cutOff.slice(0, MAX_CUT_OFF) }),
    });
  }
}

interface Below {
  readonly cutOff: CutOff;
  /** By the session and all below it. */
  readonly used: Spent;
}

const NOTHING: Below = { cutOff: [], used: sumOf() };

/** Ends the session and those below it; what was cut off in them, and what they had used. */
async function endBelow(session: SessionId, store: Store): Promise<Below> {
  if ((await store.get(session)) === undefined) return NOTHING;
  let log: SessionLog;
  try {
    log = await store.acquire(session);
  } catch (error) {
    // Somebody alive has it: it was not cut off.
    if (error instanceof ReasonError && error.reason === "SessionBusy") return NOTHING;
    throw error;
  }
  try {
    const { openCalls, remains } = await reopenSession(store, log, session);
    const cutOff: CutOff = openCalls.flatMap(({ payload: { call_id, name, class: toolClass } }) => {
      // What a delegation was cut off in is told of by the calls of its delegate.
      return toolClass === "mutating" && !delegationToolNames.includes(name) ? [{ session, call_id, name }] : [];
    });
    let used = sumOf(remains.spent, remains.delegated);
    for (const { session: below } of remains.openDelegations) {
      const found = await endBelow(below, store);
      cutOff.push(...found.cutOff);
      used = sumOf(used, found.used);
    }
    await store.update(session, { state: "ended" });
    return { cutOff, used };
  } finally {
    await log.release();
  }
}
