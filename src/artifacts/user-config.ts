/** Reads the user's `config.toml`. Wrong values fail with file and line; unknown keys only warn, with the nearest one. */
import { defined, nearestName } from "#base";
import { ReasonError } from "#protocol";
import type { RawConfig } from "./config-schema.ts";
import {
  DEFAULT_MAX_STEPS,
  defaultDaemonSettings,
  type ModelSettings,
  type NetworkSettings,
  type PermissionRule,
  type Settings,
} from "./settings.ts";

export interface LoadedConfig {
  readonly settings: Settings;
  /** One line each, ready to be shown. */
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`; nothing is read here. */
export async function parseUserConfig(file: string, text: string): Promise<LoadedConfig> {
  const [{ parse, TomlError }, { configSchema, knownKeys }] = await Promise.all([
    import("smol-toml"),
    import("./config-schema.ts"),
  ]);
  let raw: unknown;
  try {
    raw = withModelTables(parse(text));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = error.message.split("\n")[0] ?? "invalid TOML";
    throw new ReasonError("ConfigInvalid", { detail: `${file}:${error.line}:${error.column}: ${message}` });
  }
  const warnings: string[] = [];
  // Unknown keys are taken out one table after the other until only real problems, or none, are left.
  for (;;) {
    const checked = configSchema.safeParse(raw);
    if (checked.success) return { settings: toSettings(checked.data, file, text), warnings };
    const unknown = checked.error.issues.filter((issue) => issue.code === "unrecognized_keys");
    for (const { path, keys } of unknown) {
      const table = tableAt(raw, path);
      for (const key of keys) {
        delete table[key];
        const near = nearestName(key, knownKeys(path));
        const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
        const name = [...path, key].map(String);
        warnings.push(`${file}:${lineOf(text, name)}: unknown key "${name.join(".")}" is ignored.${hint}`);
      }
    }
    if (unknown.length > 0) continue;
    const problems = checked.error.issues.map(({ path, message }) => {
      const name = path.map(String);
      return `${file}:${lineOf(text, name)}: ${name.join(".")}: ${message}`;
    });
    throw new ReasonError("ConfigInvalid", { detail: problems.join("\n") });
  }
}

/** A model may be written as `"provider:name"`; from here on it is a table. */
function withModelTables(raw: Record<string, unknown>): Record<string, unknown> {
  const expand = (value: unknown): unknown => {
    const [, provider, name] = typeof value === "string" ? (/^([^:]+):(.+)$/.exec(value) ?? []) : [];
    return name === undefined ? value : { provider, name };
  };
  return {
    ...raw,
    ...("model" in raw ? { model: expand(raw.model) } : {}),
    ...(Array.isArray(raw.models) ? { models: raw.models.map(expand) } : {}),
  };
}

function tableAt(raw: unknown, path: readonly PropertyKey[]): Record<PropertyKey, unknown> {
  let value = raw;
  for (const segment of path) value = (value as Record<PropertyKey, unknown>)[segment];
  // The schema found an unknown key there, so it is a table.
  return value as Record<PropertyKey, unknown>;
}

function toSettings(raw: RawConfig, file: string, text: string): Settings {
  const { models: perModel, tools: perTool, ...global } = raw.rate_limits ?? {};
  return {
    models: [...(raw.model === undefined ? [] : [raw.model]), ...(raw.models ?? [])].map(toModel),
    permissions: toRules(raw, file, text),
    labelRules: (["private", "untrusted"] as const).flatMap((label) =>
      (raw.permissions?.[label] ?? []).map((rule) => {
        return { label, rule, source: `${file}:${lineOf(text, ["permissions", label, rule])}` };
      }),
    ),
    strictPermissions: raw.permissions?.strict ?? false,
    prices: mapValues(raw.prices ?? {}, ({ input, output, cache_read, cache_write }) =>
      defined({ input, output, cacheRead: cache_read, cacheWrite: cache_write }),
    ),
    rateLimits: {
      ...(raw.rate_limits === undefined ? {} : { global: toRate(global) }),
      models: mapValues(perModel ?? {}, toRate),
      tools: Object.entries(perTool ?? {}).map(([tool, rate]) => ({ tool, callsPerMinute: rate.calls_per_minute })),
    },
    tools: { execution: raw.tools?.execution ?? "auto", onError: raw.tools?.on_error ?? "stop" },
    maxSteps: raw.max_steps ?? DEFAULT_MAX_STEPS,
    sandbox: raw.sandbox ?? "auto",
    sandboxPaths: raw.sandbox_paths ?? [],
    ...(raw.reader_timeout_s === undefined ? {} : { readerTimeoutMs: raw.reader_timeout_s * 1000 }),
    ...(raw.network === undefined ? {} : { network: toNetwork(raw.network) }),
    retention: defined({
      contentDays: raw.retention?.content_days,
      warnDays: raw.retention?.warn_days,
      maxStoreMb: raw.retention?.max_store_mb,
    }),
    audit: { keychain: raw.audit?.keychain ?? false },
    log: {
      components: raw.log?.components ?? {},
      ...defined({ level: raw.log?.level, keepDays: raw.log?.keep_days, maxMb: raw.log?.max_mb }),
    },
    daemon: {
      idleMinutes: raw.daemon?.idle_minutes ?? defaultDaemonSettings.idleMinutes,
      sessionIdleMinutes: raw.daemon?.session_idle_minutes ?? defaultDaemonSettings.sessionIdleMinutes,
    },
    redaction: { patterns: raw.redaction?.patterns ?? [], disabledKinds: raw.redaction?.disabled_kinds ?? [] },
    budgets: mapValues(raw.budgets ?? {}, (one) =>
      defined({
        maxCostUsd: one?.max_cost_usd,
        maxTokens: one?.max_tokens,
        maxSteps: one?.max_steps,
        maxCalls: one?.max_calls,
        maxWallMs: one?.max_wall_ms,
      }),
    ),
    ...defined({ systemPrompt: raw.system_prompt }),
  };
}

function toNetwork(raw: NonNullable<RawConfig["network"]>): NetworkSettings {
  const { allowed_domains, mode, loopback_ports } = raw;
  // An empty table means the same as an empty list: whoever writes it wants a limit.
  const listed = Object.keys(raw).length === 0 ? [] : allowed_domains;
  return defined({ allowedDomains: listed, mode, loopbackPorts: loopback_ports });
}

function toModel(raw: NonNullable<RawConfig["model"]>): ModelSettings {
  const { retry, timeouts } = raw;
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
    credential: raw.credential,
    family: raw.family,
    maxTokens: raw.max_tokens,
    temperature: raw.temperature,
    headers: raw.headers,
    retry: retrySettings,
    timeouts:
      timeouts &&
      defined({
        headersMs: milliseconds(timeouts.headers_s),
        firstTokenMs: milliseconds(timeouts.first_token_s),
        chunkMs: milliseconds(timeouts.chunk_s),
        stepMs: milliseconds(timeouts.step_s),
      }),
  });
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function toRate(raw: { requests_per_minute?: number | undefined; tokens_per_minute?: number | undefined }) {
  return defined({ requestsPerMinute: raw.requests_per_minute, tokensPerMinute: raw.tokens_per_minute });
}

function toRules(raw: RawConfig, file: string, text: string): readonly PermissionRule[] {
  const effects = ["allow", "ask", "deny"] as const;
  return effects.flatMap((effect) =>
    (raw.permissions?.[effect] ?? []).map((rule) => {
      return { effect, rule, source: `${file}:${lineOf(text, ["permissions", effect, rule])}` };
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

function mapValues<In, Out>(record: Readonly<Record<string, In>>, map: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
