/** The shape of `config.toml`, as zod tables. Loaded only when there is such a file. */
import { z } from "zod";
import { isDomainEntry } from "#base";
import { globFault } from "./name-glob.ts";
import { MAX_TIMEOUT_S, MIN_TIMEOUT_S } from "./settings.ts";

const retry = z.strictObject({
  max_retries: z.number().int().nonnegative().optional(),
  max_attempts: z.number().int().nonnegative().optional().describe("Alias of max_retries."),
  initial_backoff_ms: z.number().nonnegative().optional(),
  max_backoff_ms: z.number().nonnegative().optional(),
  multiplier: z.number().nonnegative().optional(),
});

const seconds = z.number().min(MIN_TIMEOUT_S).max(MAX_TIMEOUT_S).optional();

const timeouts = z.strictObject({
  headers_s: seconds,
  first_token_s: seconds,
  chunk_s: seconds,
  step_s: seconds,
});

const modelFields = {
  provider: z.string().min(1),
  name: z.string().min(1),
  max_tokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  api_key_env: z.string().min(1).optional(),
  credential: z.string().min(1).optional(),
  family: z.enum(["openai", "anthropic"]).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  retry: retry.optional(),
  timeouts: timeouts.optional(),
};

const model = z.strictObject(modelFields, {
  error: ({ code }) =>
    code === "invalid_type" ? "expected provider:name, or a table with provider and name" : undefined,
});

const rate = z.strictObject({
  requests_per_minute: z.number().positive().optional(),
  tokens_per_minute: z.number().positive().optional(),
});

const price = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache_read: z.number().nonnegative().optional(),
  cache_write: z.number().nonnegative().optional(),
});

const budget = z.strictObject({
  max_cost_usd: z.number().positive().optional(),
  max_tokens: z.number().int().positive().optional(),
  max_steps: z.number().int().positive().optional(),
  max_calls: z.number().int().positive().optional(),
  max_wall_ms: z.number().positive().optional(),
});

const toolPattern = z
  .string()
  .refine((name) => globFault(name) === undefined, "expected a tool name, with *, ? or [a-z] for parts of it");

const logLevel = z.enum(["trace", "debug", "info", "warn", "error", "off"]);

export const configSchema = z.strictObject({
  model: model.optional(),
  models: z.array(model).optional(),
  permissions: z
    .strictObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
      private: z.array(z.string()).optional(),
      untrusted: z.array(z.string()).optional(),
      strict: z.boolean().optional(),
    })
    .optional(),
  prices: z.record(z.string(), price).optional(),
  rate_limits: rate
    .extend({
      models: z.record(z.string(), rate).optional(),
      tools: z.record(toolPattern, z.strictObject({ calls_per_minute: z.number().int().positive() })).optional(),
    })
    .optional(),
  tools: z
    .strictObject({
      execution: z.enum(["auto", "sequential", "parallel"]).optional(),
      on_error: z.enum(["stop", "continue"]).optional(),
    })
    .optional(),
  retention: z
    .strictObject({
      content_days: z.number().positive().optional(),
      warn_days: z.number().nonnegative().optional(),
      max_store_mb: z.number().positive().optional(),
    })
    .optional(),
  audit: z.strictObject({ keychain: z.boolean().optional() }).optional(),
  log: z
    .strictObject({
      level: logLevel.optional(),
      components: z.record(z.string(), logLevel).optional(),
      keep_days: z.number().int().positive().max(3650).optional(),
      max_mb: z.number().positive().optional(),
    })
    .optional(),
  daemon: z
    .strictObject({
      idle_minutes: z.number().positive().optional(),
      session_idle_minutes: z.number().positive().optional(),
    })
    .optional(),
  redaction: z
    .strictObject({
      patterns: z.array(z.strictObject({ kind: z.string().min(1), pattern: z.string().min(1) })).optional(),
      disabled_kinds: z.array(z.string()).optional(),
    })
    .optional(),
  budgets: z.strictObject({ turn: budget.optional(), session: budget.optional(), tree: budget.optional() }).optional(),
  sandbox: z.enum(["auto", "required", "off"]).optional(),
  sandbox_paths: z.array(z.string().startsWith("/", "expected an absolute path")).max(64).optional(),
  reader_timeout_s: z.number().positive().max(600).optional(),
  network: z
    .strictObject({
      allowed_domains: z
        .array(
          z.string().refine(isDomainEntry, "expected a host name, an address, *.name or *, without scheme and port"),
        )
        .optional(),
      mode: z.enum(["proxy", "direct"]).optional(),
      loopback_ports: z.array(z.number().int().min(1).max(65_535)).max(16).optional(),
    })
    .optional(),
  max_steps: z.number().int().positive().max(1000).optional(),
  system_prompt: z.string().optional(),
});

export type RawConfig = z.infer<typeof configSchema>;

/** The keys that may stand in the table at this path. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let schema: unknown = configSchema;
  for (const segment of path) {
    schema = unwrap(schema);
    if (schema instanceof z.ZodObject) schema = schema.shape[String(segment)];
    else if (schema instanceof z.ZodArray) schema = schema.element;
    else if (schema instanceof z.ZodRecord) schema = schema.valueType;
  }
  const table = unwrap(schema);
  return table instanceof z.ZodObject ? Object.keys(table.shape) : [];
}

function unwrap(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}
