/** Background commands of an earlier run: the program stopped while they ran, and none of them outlived it. */
import type { EventBus } from "#engine";
import type { EventPayload } from "#protocol";

/** Also those of the session that this one was copied from: they are none of the copy. */
export async function reportLostJobs(
  jobs: readonly EventPayload<"JobStarted">[],
  bus: Pick<EventBus, "publish">,
): Promise<void> {
  for (const { call_id, job } of jobs) {
    await bus.publish("JobEnded", { call_id, job, status: "lost", duration_ms: 0, printed_bytes: 0 });
  }
}
