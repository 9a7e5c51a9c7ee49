/** The redaction that all sessions of a program share: the table that ships with it, the user's patterns, the known secrets. */
import type { Settings } from "#artifacts";
import type { Clock } from "#base";
import type { CredentialPort, EventBus, Redaction } from "#engine";

export interface RedactionSources {
  readonly settings: Pick<Settings, "redaction" | "models">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly credentials: Pick<CredentialPort, "onSecret">;
}

/** Rejects with RedactionFailed; then no session can be had. */
export async function loadRedaction({ credentials, ...sources }: RedactionSources): Promise<Redaction> {
  const { createRedactionGateway, loadRedactor } = await import("#redaction");
  const gateway = createRedactionGateway(await loadRedactor(sources));
  credentials.onSecret((fingerprint) => gateway.learn(fingerprint));
  return gateway;
}

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
