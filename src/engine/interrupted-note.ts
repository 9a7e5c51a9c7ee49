/** What the model is told about a delegate that worked beside it when the program stopped. Bounded and pure. */
import type { EventPayload } from "#protocol";

const NAME_CHARS = 100;

/** Undefined for what it reads elsewhere: the result of its call, or of the task. */
export function interruptedNote(ended: EventPayload<"DelegationEnded">): string | undefined {
  if (ended.status !== "interrupted" || ended.mode !== "async") return undefined;
  // Quoted, so that a name cannot pass for a sentence of ours.
  const who = ended.agent === "" ? "A delegate" : `The delegate ${JSON.stringify(ended.agent.slice(0, NAME_CHARS))}`;
  return (
    `[harness: ${who} (task ${ended.session}) was interrupted when the program stopped. It no longer runs and gave no ` +
    "result; what it had changed by then is still there. Look before you rely on it, and delegate again if it is still needed.]"
  );
}
