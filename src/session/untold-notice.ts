/** Says in the log which keys redaction does not know. */
import type { CredentialPort, EventBus } from "#engine";

/**
 * Says in the log of a session which keys its redaction cannot know, and why; once for each reason. The turn goes on: a session that
 * needs no key of the store is not stopped by it, and what has the form of a key is found all the same.
 */
export function createUntoldNotice(secretsTold: CredentialPort["told"]): {
  readonly attach: (bus: Pick<EventBus, "publish">) => void;
  readonly beforeTurn: () => Promise<void>;
} {
  let bus: Pick<EventBus, "publish"> | undefined;
  let said: string | undefined;
  return {
    attach(next) {
      bus = next;
    },
    async beforeTurn() {
      const problem = await secretsTold();
      if (problem === undefined || problem.message === said) return;
      said = problem.message;
      const message = `${problem.message} Redaction does not know these keys, and finds them by their form only.`;
      await bus?.publish("Error", { reason: problem.reason, message, terminal: false });
    },
  };
}
