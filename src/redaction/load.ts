/** A redactor as the settings of a user ask for it, with the secrets that the environment holds. */
import type { Clock } from "#base";
import { literalsFromEnvironment, literalsOfServer, type ServerVariables } from "./environment.ts";
import { createRedactor, type Redactor } from "./redactor.ts";
import { compileUserPatterns, type UserPattern } from "./user-patterns.ts";

export interface RedactorSources {
  readonly settings: {
    readonly redaction: { readonly patterns: readonly UserPattern[]; readonly disabledKinds: readonly string[] };
    /** `apiKeyEnv`: the variable that holds the key of the model, whatever its name. */
    readonly models: readonly { readonly apiKeyEnv?: string }[];
    /** What an MCP server gets, it can print. */
    readonly mcpServers: readonly { readonly connection: ServerVariables }[];
    readonly agentServers?: Readonly<Record<string, RedactorSources["settings"]["mcpServers"]>>;
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Rejects with RedactionFailed. */
export async function loadRedactor({ settings, env, clock }: RedactorSources): Promise<Redactor> {
  const { patterns, disabledKinds } = settings.redaction;
  const servers = [...settings.mcpServers, ...Object.values(settings.agentServers ?? {}).flat()];
  const keyVariables = settings.models.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return createRedactor({
    literals: [
      ...literalsFromEnvironment(env, keyVariables),
      ...servers.flatMap(({ connection }) => literalsOfServer(connection, env)),
    ],
    policy: { disabledKinds },
    ...(patterns.length === 0 ? {} : { userPatterns: await compileUserPatterns(patterns, clock) }),
  });
}
