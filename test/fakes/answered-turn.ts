/** A turn in which one person answers every question with the same word. */
import type { Decision, EventPayload } from "#protocol";
import type { HarnessRig } from "./harness-rig.ts";

/** Gives the questions. */
export async function answered(rig: HarnessRig, decision: Decision): Promise<EventPayload<"PermissionRequested">[]> {
  const seen = new Set<string>(rig.of("PermissionRequested").map(({ call_id }) => call_id));
  const turn = rig.send();
  let isOver = false;
  const over = turn.then(() => {
    isOver = true;
  });
  while (!isOver) {
    const asked = rig.of("PermissionRequested").find(({ call_id }) => !seen.has(call_id));
    if (asked === undefined) await Promise.race([over, new Promise((resolve) => setImmediate(resolve))]);
    else {
      seen.add(asked.call_id);
      await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision });
    }
  }
  await turn;
  return rig.of("PermissionRequested");
}
