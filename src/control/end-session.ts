/** How an open session ends: its turn is cancelled, its end recorded, its log released. */
import { defined } from "#base";
import type { SessionStore } from "#engine";
import type { SessionId } from "#protocol";
import type { SharedSession } from "./shared-session.ts";

export type EndReason = "idle" | "user" | "binary-shutdown" | "delegation-over" | "paused";

/** Where the conversation of a paused session continues. */
export interface Pause {
  readonly continuedIn: SessionId;
  /** What has to be on the record before anybody hears of the pause. */
  record(): Promise<void>;
}

/**
 * An end or a pause that a client asked for and that cannot be recorded is refused: the session stays open. Every other end releases the session,
 * whatever the store says, and rejects afterwards. `forget` is called before the release.
 */
export async function endSession(
  store: Pick<SessionStore, "update">,
  session: SharedSession,
  reason: EndReason,
  forget: () => void,
  pause?: Pause,
): Promise<void> {
  const { engine } = session.live;
  const resumeQueue = engine.holdQueue();
  engine.cancel({ reason: reason === "binary-shutdown" ? "shutdown" : "user" });
  await engine.running?.ended;
  await session.restoring?.done;
  const record = (): Promise<void> => store.update(engine.id, { state: "ended" });
  if (reason === "user" || pause !== undefined) {
    await (pause ?? { record }).record().catch((error: unknown) => {
      delete session.ending;
      resumeQueue();
      throw error;
    });
  }
  try {
    await session.live.finish();
    await engine.bus.publish("SessionEnded", { reason, ...defined({ continued_in: pause?.continuedIn }) });
    // An idle one is not over: whoever comes next goes on with it.
    if (reason === "binary-shutdown" || reason === "delegation-over") await record();
  } finally {
    // Also when its end cannot be recorded: nothing of it may keep the program alive.
    forget();
    await session.live.release();
  }
}
