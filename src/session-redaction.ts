/** The redaction that all sessions of a program share: the table that ships with it, the user's patterns, the known secrets. */
import type { Settings } from "#artifacts";
import type { Clock } from "#base";
import type { Redaction } from "#engine";

export interface RedactionSources {
  readonly settings: Pick<Settings, "redaction" | "models">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Rejects with RedactionFailed; then no session can be had. */
export async function loadRedaction(sources: RedactionSources): Promise<Redaction> {
  const { createRedactionGateway, loadRedactor } = await import("#redaction");
  return createRedactionGateway(await loadRedactor(sources));
}
