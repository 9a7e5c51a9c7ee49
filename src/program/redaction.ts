/**
 * The one place where a redactor is put together: the table that ships with the program, the user's patterns, the secrets of the
 * environment, and the keys that the credential helper tells how to recognise. Sessions, cassettes and commands have theirs from here.
 */
import type { Settings } from "#artifacts";
import type { Clock } from "#base";
import type { CredentialPort, Redaction } from "#engine";
import type { Redactor } from "#redaction";

export interface RedactionSources {
  readonly settings: Pick<Settings, "redaction" | "models" | "mcpServers" | "agentServers">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Absent where nothing has keys. */
  readonly credentials?: Pick<CredentialPort, "onSecret">;
}

/** Rejects with RedactionFailed. Keys that become known later are redacted from then on. */
export async function assembleRedactor({ credentials, ...sources }: RedactionSources): Promise<Redactor> {
  const { loadRedactor } = await import("#redaction");
  const redactor = await loadRedactor(sources);
  credentials?.onSecret((fingerprint) => redactor.learn(fingerprint));
  return redactor;
}

/** For the sessions of a program, which share it. Rejects with RedactionFailed; then no session can be had. */
export async function loadRedaction(sources: RedactionSources): Promise<Redaction> {
  const { createRedactionGateway } = await import("#redaction");
  return createRedactionGateway(await assembleRedactor(sources));
}
