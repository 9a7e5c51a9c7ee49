/** `config.toml`: the tables of the user's own configuration, and what the program makes of them. */
import { defined } from "#base";
import { contextSettings } from "./context-settings.ts";
import { type ContextSource, contextSources, DEFAULT_CONTEXT_SOURCES } from "./context-sources.ts";
import { interfaceType, keysType } from "./interface-table.ts";
import { budgetsType } from "./limits-table.ts";
import { mcpServersType } from "./mcp-table.ts";
import { memorySettings } from "./memory-settings.ts";
import { MAX_MODELS } from "./model-table.ts";
import { networkType as network } from "./network-table.ts";
import { pluginsType } from "./plugin-table.ts";
import {
  amount,
  byName,
  choice,
  defineTable,
  type FieldType,
  field,
  flag,
  integer,
  list,
  nested,
  number,
  placed,
  positive,
  required,
  text,
  textThat,
  type ValuesOf,
  words,
} from "./schema.ts";
import {
  DEFAULT_MAX_STEPS,
  defaultDaemonSettings,
  defaultSettings,
  type LabelRule,
  MIN_TIMEOUT_S,
  type ModelSettings,
  type PermissionRule,
  type Settings,
} from "./settings.ts";
import { shellHookFields } from "./shell-hook-table.ts";
import { priceType, rateLimitsType, userModelType } from "./user-model-table.ts";

const MAX_STEPS = 1000;
const MAX_RULES = 10_000;
const MAX_PATHS = 64;
const MAX_READER_S = 600;
const MAX_PERMISSION_S = 24 * 60 * 60;
const MAX_LOG_DAYS = 3650;
const MAX_PATTERNS = 1000;
const MAX_CONTEXT_SOURCES = 16;

const rules = list(placed(words("permission rule")), { max: MAX_RULES });

export const permissionsTable = defineTable(
  "Permissions",
  "Permission rules: see [permissions.md](permissions.md). Rules from flags such as `--allow` are added to them.",
).of({
  allow: field(rules, "`[]`").means("Calls that run without asking."),
  ask: field(rules, "`[]`").means("Calls that need a person's approval."),
  deny: field(rules, "`[]`").means("Calls that Harness refuses."),
  private: field(rules, "`[]`").means("Calls whose results get the [label](permissions.md#labels) `private`."),
  untrusted: field(rules, "`[]`").means(
    "Calls whose results get the [label](permissions.md#labels) `untrusted`, because they come from outside.",
  ),
  strict: field(flag, `\`${defaultSettings.strictPermissions}\``).means(
    "If true, every call that no rule allows asks for approval. The [quiet preset](permissions.md#the-quiet-preset) is off.",
  ),
});

export interface UserRules {
  readonly permissions: readonly PermissionRule[];
  readonly labelRules: readonly LabelRule[];
  readonly strict?: boolean;
}

export const permissionsType: FieldType<UserRules> = nested(permissionsTable, ({ values }) => rulesOfTable(values));

export function rulesOfTable(values: ValuesOf<typeof permissionsTable.fields>): UserRules {
  const effects = ["allow", "ask", "deny"] as const;
  const labels = ["private", "untrusted"] as const;
  return {
    permissions: effects.flatMap((effect) =>
      (values[effect] ?? []).map(({ value: rule, place }) => ({ effect, rule, source: `${place.file}:${place.line}` })),
    ),
    labelRules: labels.flatMap((label) =>
      (values[label] ?? []).map(({ value: rule, place }) => ({ label, rule, source: `${place.file}:${place.line}` })),
    ),
    ...defined({ strict: values.strict }),
  };
}

const toolsTable = defineTable("Tools", "How Harness runs the tool calls of one response.").of({
  execution: field(choice("auto", "sequential", "parallel"), `\`"${defaultSettings.tools.execution}"\``).means(
    "`auto`: read-only calls run in parallel, mutating calls run one at a time. `sequential`: all calls run one at a time. `parallel`: all calls run in parallel.",
  ),
  on_error: field(choice("stop", "continue"), `\`"${defaultSettings.tools.onError}"\``).means(
    "`stop`: after a failed call, Harness does not run the later mutating calls of that response. `continue`: it runs them.",
  ),
});

const tools: FieldType<Settings["tools"]> = nested(toolsTable, ({ values }) => ({
  execution: values.execution ?? defaultSettings.tools.execution,
  onError: values.on_error ?? defaultSettings.tools.onError,
}));

const retentionTable = defineTable("Retention", "How long the log keeps content.").of({
  content_days: field(positive, "`30`").means(
    "Days after which Harness deletes the content of events from the encrypted log. The record of what happened and when stays. Pinned sessions keep their content; open sessions keep it until they are closed. If the clock [jumps ahead](../reliability.md#clock-steps), Harness does not delete content right away.",
  ),
  warn_days: field(amount, "`7`").means(
    "Once a day, Harness lists the sessions that will lose content within this number of days.",
  ),
  max_store_mb: field(positive, "`4096`").means(
    "While the log is larger than this, Harness deletes content earlier, oldest first.",
  ),
});

const retention: FieldType<Settings["retention"]> = nested(retentionTable, ({ values }) =>
  defined({ contentDays: values.content_days, warnDays: values.warn_days, maxStoreMb: values.max_store_mb }),
);

const auditTable = defineTable("Audit", "How Harness detects that the log was replaced by an older copy.").of({
  keychain: field(flag, `\`${defaultSettings.audit.keychain}\``).means(
    "If true, Harness also stores the newest head of the log in the system keychain ([evidence.md](evidence.md#the-last-known-head)), with `secret-tool` on Linux and `security` on macOS. A locked keychain may ask for its password when a session ends.",
  ),
});

const audit: FieldType<Settings["audit"]> = nested(auditTable, ({ values }) => ({
  keychain: values.keychain ?? defaultSettings.audit.keychain,
}));

const level = choice("trace", "debug", "info", "warn", "error", "off");

const logTable = defineTable("Log", "How much the daemon writes to [its log](../guide/daemon.md#its-log).").of({
  level: field(level, '`"info"`').means("The log level of all components."),
  components: field(byName(level, "component"), "as `level`").means(
    "The log level of one component and its subcomponents: `engine`, `provider.openai`.",
  ),
  keep_days: field(integer(1, MAX_LOG_DAYS), "`14`").means("How many days of log files to keep, including today."),
  max_mb: field(positive, "`32`").means(
    "The largest size of one log file. When a file is full, the daemon rotates it; at most two files per day are kept.",
  ),
});

const log: FieldType<Settings["log"]> = nested(logTable, ({ values }) => ({
  components: values.components ?? {},
  ...defined({ level: values.level, keepDays: values.keep_days, maxMb: values.max_mb }),
}));

const daemonTable = defineTable("Daemon", "When a background daemon and its sessions end on their own.").of({
  idle_minutes: field(positive, `\`${defaultDaemonSettings.idleMinutes}\``).means(
    "The daemon ends after this many minutes without an attached client and without work.",
  ),
  session_idle_minutes: field(positive, `\`${defaultDaemonSettings.sessionIdleMinutes}\``).means(
    "A session ends after this many minutes without an attached client and without work. Pinned sessions stay open.",
  ),
});

const daemon: FieldType<Settings["daemon"]> = nested(daemonTable, ({ values }) => ({
  idleMinutes: values.idle_minutes ?? defaultDaemonSettings.idleMinutes,
  sessionIdleMinutes: values.session_idle_minutes ?? defaultDaemonSettings.sessionIdleMinutes,
}));

const patternTable = defineTable(
  "Pattern",
  "A pattern for more secrets. Redaction may miss a match that is longer than 256 characters. If a pattern is invalid, no session starts (`RedactionFailed`).",
).of({
  kind: required(words("letters, digits, `_`, `.`, `-`")).means("The name in the marker `«redacted:KIND»`."),
  pattern: required(words("RE2 syntax")).means("The text to redact."),
});

const redactionTable = defineTable(
  "Redaction",
  "Which secrets Harness removes from everything that leaves the program: see [redaction.md](redaction.md).",
).of({
  patterns: field(
    list(
      nested(patternTable, ({ values: { kind, pattern } }) =>
        kind === undefined || pattern === undefined ? undefined : { kind, pattern },
      ),
      { max: MAX_PATTERNS },
    ),
    "`[]`",
  ).means("Patterns for more secrets, at most 100."),
  disabled_kinds: field(list(text("kind"), { max: MAX_PATTERNS }), "`[]`").means(
    "[Kinds](redaction.md#kinds) of secrets that Harness does not redact. If a kind does not exist, no session starts (`RedactionFailed`).",
  ),
});

const redaction: FieldType<Settings["redaction"]> = nested(redactionTable, ({ values }) => ({
  patterns: values.patterns ?? [],
  disabledKinds: values.disabled_kinds ?? [],
}));

const sourceNames = list(choice(...(Object.keys(contextSources) as ContextSource[])), { max: MAX_CONTEXT_SOURCES });
/** Each once. */
export const contextSourcesType: FieldType<readonly ContextSource[]> = {
  ...sourceNames,
  read(tree, reader) {
    const read = sourceNames.read(tree, reader);
    return read && [...new Set(read)];
  },
};

export const userTable = defineTable(
  "Keys",
  "Every key is optional. A key that has its own section below is a TOML table, for example `[retention]`.",
).of({
  model: field(userModelType, "[see below](#which-model)").means(
    "The default model. If `models` has an entry of the same name, its settings apply.",
  ),
  models: field(list(userModelType, { max: MAX_MODELS }), "`[]`").means(
    "More models. They are the fallbacks of the default model, in this order. In a conversation, `/model` accepts their name without the provider.",
  ),
  max_steps: field(integer(1, MAX_STEPS), `\`${DEFAULT_MAX_STEPS}\``).means(
    "The largest number of model calls per turn.",
  ),
  system_prompt: field(text(), "built in").means(
    "Replaces the built-in text that says who the agent is. The line that names the workspace stays.",
  ),
  context_sources: field(contextSourcesType, `\`${JSON.stringify(DEFAULT_CONTEXT_SOURCES)}\``).means(
    "Which [context files](../guide/writing-context.md#files-for-other-agents) of a repository Harness reads, in this order in each folder. Each needs your ack. `[]` reads none.",
  ),
  context: field(contextSettings).means("How long conversations are made shorter."),
  permissions: field(permissionsType).means("Which calls run, which ask for approval and which are refused."),
  sandbox: field(choice("auto", "required", "off"), `\`"${defaultSettings.sandbox}"\``).means(
    "`auto`: commands run in a [sandbox](../security.md#os-sandbox); on a machine without a sandbox, each command needs a person's approval. `required`: Harness refuses to start a session if the machine has no sandbox (`SandboxUnavailable`). `off`: commands run with your rights, and each one needs a rule or a person's approval. Only this file and `--sandbox` can turn the sandbox off; `off` in `harness.md` has no effect.",
  ),
  sandbox_paths: field(
    list(
      textThat("absolute path", (path) => path.startsWith("/")),
      { max: MAX_PATHS },
    ),
    "`[]`",
  ).means(
    `More folders that commands can read but not write, in addition to [the usual ones](../security.md#what-both-see): for example an SDK in \`/srv\`. At most ${MAX_PATHS}.`,
  ),
  permission_timeout: field(number(MIN_TIMEOUT_S, MAX_PERMISSION_S), "`60`").means(
    "How many seconds a permission request or a question of the daemon or of `harness rpc` waits for an answer. In the terminal of `harness run`, a person has a day to answer.",
  ),
  reader_timeout_s: field(number(MIN_TIMEOUT_S, MAX_READER_S), "`10`").means(
    "The time limit in seconds for a command that runs without approval.",
  ),
  network: field(network).means("Which hosts commands and `web.fetch` may connect to."),
  mcp_servers: field(mcpServersType, "none").means("MCP servers by name. The agent can call their tools."),
  tools: field(tools).means("How Harness runs the tool calls of one response."),
  budgets: field(budgetsType, "none").means("Limits on cost, tokens, steps, calls and time."),
  prices: field(byName(priceType, "model"), "built in").means("What models cost."),
  rate_limits: field(rateLimitsType, "none").means("How often Harness may call models and tools."),
  memory: field(memorySettings).means("What the agent remembers of earlier sessions."),
  redaction: field(redaction).means("Which secrets Harness redacts."),
  retention: field(retention).means("How long the log keeps content."),
  audit: field(audit).means("How Harness detects that the log was replaced by an older copy."),
  log: field(log).means("How much the daemon writes to its log."),
  daemon: field(daemon).means("When a background daemon and its sessions end."),
  interface: field(interfaceType).means("How the terminal interface looks."),
  keys: field(keysType, "[see the guide](../guide/terminal.md#keys)").means(
    'What the keys of the terminal interface do: each action by its name with its keys, for example `open-history = ["ctrl+r"]`. Press `?` in the interface for the actions. `[]` leaves an action without a key.',
  ),
  ...shellHookFields,
  plugins: field(pluginsType, "none").means("Your own code that runs inside Harness."),
});

/** The default first. One that `models` describes as well has what is said there. */
function modelsOf(named: ModelSettings | undefined, more: readonly ModelSettings[] = []): readonly ModelSettings[] {
  if (named === undefined) return more;
  const described = more.find(({ model }) => model === named.model);
  return [{ ...described, ...named }, ...more.filter((one) => one !== described)];
}

/** What is not written is as in `base`: the settings of the built-in profile. Rules add up. */
export function toSettings(values: ValuesOf<typeof userTable.fields>, base: Settings = defaultSettings): Settings {
  const { system_prompt: systemPrompt, reader_timeout_s: readerS, permission_timeout: answerS } = values;
  const models = modelsOf(values.model, values.models);
  const servers = values.mcp_servers ?? [];
  return {
    ...base,
    models: models.length === 0 ? base.models : models,
    permissions: [...base.permissions, ...(values.permissions?.permissions ?? [])],
    labelRules: [...base.labelRules, ...(values.permissions?.labelRules ?? [])],
    mcpServers: [...base.mcpServers.filter(({ name }) => !servers.some((own) => own.name === name)), ...servers],
    ...defined({
      strictPermissions: values.permissions?.strict,
      prices: values.prices,
      rateLimits: values.rate_limits,
      tools: values.tools,
      maxSteps: values.max_steps,
      sandbox: values.sandbox,
      sandboxPaths: values.sandbox_paths,
      permissionTimeoutMs: answerS === undefined ? undefined : answerS * 1000,
      readerTimeoutMs: readerS === undefined ? undefined : readerS * 1000,
      network: values.network,
      retention: values.retention,
      audit: values.audit,
      log: values.log,
      daemon: values.daemon,
      interface: values.interface,
      keys: values.keys,
      hooks: values.hooks,
      allowProjectHooks: values.allow_project_hooks,
      plugins: values.plugins,
      redaction: values.redaction,
      budgets: values.budgets,
      memory: values.memory,
      context: values.context,
      contextSources: values.context_sources,
      systemPrompt,
    }),
  };
}
