/** The redaction that all sessions of a program share: the table that ships with it, the user's patterns, the known secrets. */
import type { Settings } from "#artifacts";
import type { Clock } from "#base";
import type { CredentialPort, Redaction } from "#engine";

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
