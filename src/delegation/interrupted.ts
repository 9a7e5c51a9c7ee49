/** Delegates that worked when the program stopped: they get their end on the record when the session is opened again. */
import type { EventBus, SessionStore } from "#engine";
import type { EventPayload } from "#protocol";

export async function endInterrupted(
  open: readonly EventPayload<"DelegationStarted">[],
  bus: Pick<EventBus, "publish">,
  store: Pick<SessionStore, "get" | "update">,
): Promise<void> {
  for (const { turn, call_id, session, agent, mode } of open) {
    await bus.publish("DelegationEnded", {
      ...{ turn, call_id, session, agent, mode, status: "interrupted", reason: "Interrupted" },
      usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
      ...{ steps: 0, tool_calls: 0, duration_ms: 0 },
    });
    if ((await store.get(session)) !== undefined) await store.update(session, { state: "ended" });
  }
}
