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
export async function loadRedaction({ settings, env, clock }: RedactionSources): Promise<Redaction> {
  const { compileUserPatterns, createRedactionGateway, createRedactor, literalsFromEnvironment } = await import(
    "#redaction"
  );
  const { patterns, disabledKinds } = settings.redaction;
  const keyVariables = settings.models.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const redactor = createRedactor({
    literals: literalsFromEnvironment(env, keyVariables),
    policy: { disabledKinds },
    ...(patterns.length === 0 ? {} : { userPatterns: await compileUserPatterns(patterns, clock) }),
  });
  return createRedactionGateway(redactor);
}
