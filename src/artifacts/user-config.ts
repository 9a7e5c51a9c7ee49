/** Reads the user's `config.toml`. Wrong values fail with file and line; unknown keys only warn, with the nearest one. */
import { nearestName } from "#base";
import { ReasonError } from "#protocol";
import { DEFAULT_MAX_STEPS, type ModelSettings, type PermissionRule, type Settings } from "./settings.ts";

export interface LoadedConfig {
  readonly settings: Settings;
  /** One line each, ready to be shown. */
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`; nothing is read here. */
export async function parseUserConfig(file: string, text: string): Promise<LoadedConfig> {
  const [{ parse, TomlError }, { z }] = await Promise.all([import("smol-toml"), import("zod")]);
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = error.message.split("\n")[0] ?? "invalid TOML";
    throw new ReasonError("ConfigInvalid", { detail: `${file}:${error.line}:${error.column}: ${message}` });
  }
  const checked = configSchema(z).safeParse(raw);
  if (!checked.success) {
    const problems = checked.error.issues.map((issue) => {
      const path = issue.path.map(String);
      return `${file}:${lineOf(text, path)}: ${path.join(".")}: ${issue.message}`;
    });
    throw new ReasonError("ConfigInvalid", { detail: problems.join("\n") });
  }
  return { settings: toSettings(checked.data, file, text), warnings: unknownKeys(raw, file, text) };
}

type Zod = typeof import("zod")["z"];
type RawConfig = import("zod").infer<ReturnType<typeof configSchema>>;

function configSchema(z: Zod) {
  const retry = z.object({
    max_retries: z.number().int().nonnegative().optional(),
    max_attempts: z.number().int().nonnegative().optional().describe("Alias of max_retries."),
    initial_backoff_ms: z.number().nonnegative().optional(),
    max_backoff_ms: z.number().nonnegative().optional(),
    multiplier: z.number().nonnegative().optional(),
  });
  const modelTable = z.object({
    provider: z.string().min(1),
    name: z.string().min(1),
    max_tokens: z.number().int().positive().optional(),
    temperature: z.number().min(0).max(2).optional(),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    api_key_env: z.string().min(1).optional(),
    family: z.enum(["openai", "anthropic"]).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    retry: retry.optional(),
  });
  const model = z.union([z.string().regex(/^[^:]+:.+$/, { error: "expected provider:name" }), modelTable]);
  const rate = z.object({
    requests_per_minute: z.number().positive().optional(),
    tokens_per_minute: z.number().positive().optional(),
  });
  const price = z.object({
    input: z.number().nonnegative(),
    output: z.number().nonnegative(),
    cache_read: z.number().nonnegative().optional(),
    cache_write: z.number().nonnegative().optional(),
  });
  return z.object({
    model: model.optional(),
    models: z.array(model).optional(),
    permissions: z
      .object({
        allow: z.array(z.string()).optional(),
        ask: z.array(z.string()).optional(),
        deny: z.array(z.string()).optional(),
        strict: z.boolean().optional(),
      })
      .optional(),
    prices: z.record(z.string(), price).optional(),
    rate_limits: rate.extend({ models: z.record(z.string(), rate).optional() }).optional(),
    tools: z
      .object({
        execution: z.enum(["auto", "sequential", "parallel"]).optional(),
        on_error: z.enum(["stop", "continue"]).optional(),
      })
      .optional(),
    max_steps: z.number().int().positive().max(1000).optional(),
    system_prompt: z.string().optional(),
  });
}

function toSettings(raw: RawConfig, file: string, text: string): Settings {
  const rateLimits = raw.rate_limits;
  const { models: perModel, ...global } = rateLimits ?? {};
  return {
    models: [...(raw.model === undefined ? [] : [raw.model]), ...(raw.models ?? [])].map(toModel),
    permissions: toRules(raw, file, text),
    strictPermissions: raw.permissions?.strict ?? false,
    prices: mapValues(raw.prices ?? {}, ({ input, output, cache_read, cache_write }) =>
      defined({ input, output, cacheRead: cache_read, cacheWrite: cache_write }),
    ),
    rateLimits: { global: toRate(global), models: mapValues(perModel ?? {}, toRate) },
    tools: { execution: raw.tools?.execution ?? "auto", onError: raw.tools?.on_error ?? "stop" },
    maxSteps: raw.max_steps ?? DEFAULT_MAX_STEPS,
    ...(raw.system_prompt === undefined ? {} : { systemPrompt: raw.system_prompt }),
  };
}

type RawModel = NonNullable<RawConfig["model"]>;

function toModel(raw: RawModel): ModelSettings {
  if (typeof raw === "string") return { model: raw };
  const { retry } = raw;
  const retrySettings =
    retry &&
    defined({
      maxRetries: retry.max_retries ?? retry.max_attempts,
      initialBackoffMs: retry.initial_backoff_ms,
      maxBackoffMs: retry.max_backoff_ms,
      multiplier: retry.multiplier,
    });
  return defined({
    model: `${raw.provider}:${raw.name}`,
    baseUrl: raw.base_url,
    apiKeyEnv: raw.api_key_env,
    family: raw.family,
    maxTokens: raw.max_tokens,
    temperature: raw.temperature,
    headers: raw.headers,
    retry: retrySettings,
  });
}

function toRate(raw: { requests_per_minute?: number | undefined; tokens_per_minute?: number | undefined }) {
  return defined({ requestsPerMinute: raw.requests_per_minute, tokensPerMinute: raw.tokens_per_minute });
}

function toRules(raw: RawConfig, file: string, text: string): readonly PermissionRule[] {
  const effects = ["allow", "ask", "deny"] as const;
  return effects.flatMap((effect) =>
    (raw.permissions?.[effect] ?? []).map((rule) => {
      return { effect, rule, source: `${file}:${lineOf(text, ["permissions", rule])}` };
    }),
  );
}

/** The line where the last path segment first appears after the ones before it; 1 when it is not written out. */
function lineOf(text: string, path: readonly string[]): number {
  let at = 0;
  for (const segment of path.filter((part) => !/^\d+$/.test(part))) {
    const found = text.indexOf(segment, at);
    if (found < 0) break;
    at = found;
  }
  return text.slice(0, at).split("\n").length;
}

const KNOWN_KEYS = {
  "": ["model", "models", "permissions", "prices", "rate_limits", "tools", "max_steps", "system_prompt"],
  permissions: ["allow", "ask", "deny", "strict"],
  rate_limits: ["requests_per_minute", "tokens_per_minute", "models"],
  tools: ["execution", "on_error"],
} as const;

function unknownKeys(raw: unknown, file: string, text: string): string[] {
  const warnings: string[] = [];
  for (const [table, known] of Object.entries(KNOWN_KEYS)) {
    const keys = Object.keys(tableOf(raw, table));
    for (const key of keys.filter((candidate) => !known.some((name) => name === candidate))) {
      const near = nearestName(key, known);
      const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
      const path = table === "" ? key : `${table}.${key}`;
      warnings.push(`${file}:${lineOf(text, path.split("."))}: unknown key "${path}" is ignored.${hint}`);
    }
  }
  return warnings;
}

function tableOf(raw: unknown, table: string): object {
  const value = table === "" ? raw : (raw as Record<string, unknown>)[table]; // a parsed TOML document is a table
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function mapValues<In, Out>(record: Readonly<Record<string, In>>, map: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** The object without its undefined fields. */
function defined<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  // Fields that are left are those that had a value; exact optional types cannot say so.
  return Object.fromEntries(kept) as { [Key in keyof Fields]: Exclude<Fields[Key], undefined> };
}
