/** Says in the log of a session which keys its redaction cannot know, and why; once for each reason. */
import type { CredentialPort, EventBus } from "#engine";

/**
 * To be called before each turn, which then goes on: a session that needs no key of the store is not stopped by it, and what has the
 * form of a key is found all the same.
 */
export function createUnknownKeysNotice(
  bus: Pick<EventBus, "publish">,
  secretsTold: CredentialPort["told"],
): () => Promise<void> {
  let said: string | undefined;
  return async () => {
    const problem = await secretsTold();
    if (problem === undefined || problem.message === said) return;
    said = problem.message;
    const message = `${problem.message} Redaction does not know these keys and can recognise them only by their format.`;
    await bus.publish("Error", { reason: problem.reason, message, terminal: false });
  };
}
