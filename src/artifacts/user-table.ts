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
  flag,
  integer,
  list,
  nested,
  number,
  placed,
  positive,
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

export const permissionsTable = defineTable({
  title: "Permissions",
  about:
    "Permission rules: see [permissions.md](permissions.md). Rules from flags such as `--allow` are added to them.",
  fields: {
    allow: { type: rules, default: "`[]`", meaning: "Calls that run without asking." },
    ask: { type: rules, default: "`[]`", meaning: "Calls that need a person's approval." },
    deny: { type: rules, default: "`[]`", meaning: "Calls that Harness refuses." },
    private: {
      type: rules,
      default: "`[]`",
      meaning: "Calls whose results get the [label](permissions.md#labels) `private`.",
    },
    untrusted: {
      type: rules,
      default: "`[]`",
      meaning:
        "Calls whose results get the [label](permissions.md#labels) `untrusted`, because they come from outside.",
    },
    strict: {
      type: flag,
      default: `\`${defaultSettings.strictPermissions}\``,
      meaning:
        "If true, every call that no rule allows asks for approval. The [quiet preset](permissions.md#the-quiet-preset) is off.",
    },
  },
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

const toolsTable = defineTable({
  title: "Tools",
  about: "How Harness runs the tool calls of one response.",
  fields: {
    execution: {
      type: choice("auto", "sequential", "parallel"),
      default: `\`"${defaultSettings.tools.execution}"\``,
      meaning:
        "`auto`: read-only calls run in parallel, mutating calls run one at a time. `sequential`: all calls run one at a time. `parallel`: all calls run in parallel.",
    },
    on_error: {
      type: choice("stop", "continue"),
      default: `\`"${defaultSettings.tools.onError}"\``,
      meaning:
        "`stop`: after a failed call, Harness does not run the later mutating calls of that response. `continue`: it runs them.",
    },
  },
});

const tools: FieldType<Settings["tools"]> = nested(toolsTable, ({ values }) => ({
  execution: values.execution ?? defaultSettings.tools.execution,
  onError: values.on_error ?? defaultSettings.tools.onError,
}));

const retentionTable = defineTable({
  title: "Retention",
  about: "How long the log keeps content.",
  fields: {
    content_days: {
      type: positive,
      default: "`30`",
      meaning:
        "Days after which Harness deletes the content of events from the encrypted log. The record of what happened and when stays. Pinned sessions keep their content; open sessions keep it until they are closed. If the clock [jumps ahead](../reliability.md#clock-steps), Harness does not delete content right away.",
    },
    warn_days: {
      type: amount,
      default: "`7`",
      meaning: "Once a day, Harness lists the sessions that will lose content within this number of days.",
    },
    max_store_mb: {
      type: positive,
      default: "`4096`",
      meaning: "While the log is larger than this, Harness deletes content earlier, oldest first.",
    },
  },
});

const retention: FieldType<Settings["retention"]> = nested(retentionTable, ({ values }) =>
  defined({ contentDays: values.content_days, warnDays: values.warn_days, maxStoreMb: values.max_store_mb }),
);

const auditTable = defineTable({
  title: "Audit",
  about: "How Harness detects that the log was replaced by an older copy.",
  fields: {
    keychain: {
      type: flag,
      default: `\`${defaultSettings.audit.keychain}\``,
      meaning:
        "If true, Harness also stores the newest head of the log in the system keychain ([evidence.md](evidence.md#the-last-known-head)), with `secret-tool` on Linux and `security` on macOS. A locked keychain may ask for its password when a session ends.",
    },
  },
});

const audit: FieldType<Settings["audit"]> = nested(auditTable, ({ values }) => ({
  keychain: values.keychain ?? defaultSettings.audit.keychain,
}));

const level = choice("trace", "debug", "info", "warn", "error", "off");

const logTable = defineTable({
  title: "Log",
  about: "How much the daemon writes to [its log](../guide/daemon.md#its-log).",
  fields: {
    level: { type: level, default: '`"info"`', meaning: "The log level of all components." },
    components: {
      type: byName(level, "component"),
      default: "as `level`",
      meaning: "The log level of one component and its subcomponents: `engine`, `provider.openai`.",
    },
    keep_days: {
      type: integer(1, MAX_LOG_DAYS),
      default: "`14`",
      meaning: "How many days of log files to keep, including today.",
    },
    max_mb: {
      type: positive,
      default: "`32`",
      meaning:
        "The largest size of one log file. When a file is full, the daemon rotates it; at most two files per day are kept.",
    },
  },
});

const log: FieldType<Settings["log"]> = nested(logTable, ({ values }) => ({
  components: values.components ?? {},
  ...defined({ level: values.level, keepDays: values.keep_days, maxMb: values.max_mb }),
}));

const daemonTable = defineTable({
  title: "Daemon",
  about: "When a background daemon and its sessions end on their own.",
  fields: {
    idle_minutes: {
      type: positive,
      default: `\`${defaultDaemonSettings.idleMinutes}\``,
      meaning: "The daemon ends after this many minutes without an attached client and without work.",
    },
    session_idle_minutes: {
      type: positive,
      default: `\`${defaultDaemonSettings.sessionIdleMinutes}\``,
      meaning:
        "A session ends after this many minutes without an attached client and without work. Pinned sessions stay open.",
    },
  },
});

const daemon: FieldType<Settings["daemon"]> = nested(daemonTable, ({ values }) => ({
  idleMinutes: values.idle_minutes ?? defaultDaemonSettings.idleMinutes,
  sessionIdleMinutes: values.session_idle_minutes ?? defaultDaemonSettings.sessionIdleMinutes,
}));

const patternTable = defineTable({
  title: "Pattern",
  about:
    "A pattern for more secrets. Redaction may miss a match that is longer than 256 characters. If a pattern is invalid, no session starts (`RedactionFailed`).",
  fields: {
    kind: {
      type: words("letters, digits, `_`, `.`, `-`"),
      required: true,
      meaning: "The name in the marker `«redacted:KIND»`.",
    },
    pattern: { type: words("RE2 syntax"), required: true, meaning: "The text to redact." },
  },
});

const redactionTable = defineTable({
  title: "Redaction",
  about: "Which secrets Harness removes from everything that leaves the program: see [redaction.md](redaction.md).",
  fields: {
    patterns: {
      type: list(
        nested(patternTable, ({ values: { kind, pattern } }) =>
          kind === undefined || pattern === undefined ? undefined : { kind, pattern },
        ),
        { max: MAX_PATTERNS },
      ),
      default: "`[]`",
      meaning: "Patterns for more secrets, at most 100.",
    },
    disabled_kinds: {
      type: list(text("kind"), { max: MAX_PATTERNS }),
      default: "`[]`",
      meaning:
        "[Kinds](redaction.md#kinds) of secrets that Harness does not redact. If a kind does not exist, no session starts (`RedactionFailed`).",
    },
  },
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

export const userTable = defineTable({
  title: "Keys",
  about: "Every key is optional. A key that has its own section below is a TOML table, for example `[retention]`.",
  fields: {
    model: { type: userModelType, default: "[see below](#which-model)", meaning: "The default model." },
    models: {
      type: list(userModelType, { max: MAX_MODELS }),
      default: "`[]`",
      meaning:
        "More models. They are the fallbacks of the default model, in this order. In a conversation, `/model` accepts their name without the provider.",
    },
    max_steps: {
      type: integer(1, MAX_STEPS),
      default: `\`${DEFAULT_MAX_STEPS}\``,
      meaning: "The largest number of model calls per turn.",
    },
    system_prompt: {
      type: text(),
      default: "built in",
      meaning: "Replaces the built-in text that says who the agent is. The line that names the workspace stays.",
    },
    context_sources: {
      type: contextSourcesType,
      default: `\`${JSON.stringify(DEFAULT_CONTEXT_SOURCES)}\``,
      meaning:
        "Which [context files](../guide/writing-context.md#files-for-other-agents) of a repository Harness reads, in this order in each folder. Each needs your ack. `[]` reads none.",
    },
    context: { type: contextSettings, meaning: "How long conversations are made shorter." },
    permissions: { type: permissionsType, meaning: "Which calls run, which ask for approval and which are refused." },
    sandbox: {
      type: choice("auto", "required", "off"),
      default: `\`"${defaultSettings.sandbox}"\``,
      meaning:
        "`auto`: commands run in a [sandbox](../security.md#os-sandbox); on a machine without a sandbox, each command needs a person's approval. `required`: Harness refuses to start a session if the machine has no sandbox (`SandboxUnavailable`). `off`: commands run with your rights, and each one needs a rule or a person's approval. Only this file and `--sandbox` can turn the sandbox off; `off` in `harness.md` has no effect.",
    },
    sandbox_paths: {
      type: list(
        textThat("absolute path", (path) => path.startsWith("/")),
        { max: MAX_PATHS },
      ),
      default: "`[]`",
      meaning: `More folders that commands can read but not write, in addition to [the usual ones](../security.md#what-both-see): for example an SDK in \`/srv\`. At most ${MAX_PATHS}.`,
    },
    permission_timeout: {
      type: number(MIN_TIMEOUT_S, MAX_PERMISSION_S),
      default: "`60`",
      meaning:
        "How many seconds a permission request or a question of the daemon or of `harness rpc` waits for an answer. In the terminal of `harness run`, a person has a day to answer.",
    },
    reader_timeout_s: {
      type: number(MIN_TIMEOUT_S, MAX_READER_S),
      default: "`10`",
      meaning: "The time limit in seconds for a command that runs without approval.",
    },
    network: { type: network, meaning: "Which hosts commands and `web.fetch` may connect to." },
    mcp_servers: {
      type: mcpServersType,
      default: "none",
      meaning: "MCP servers by name. The agent can call their tools.",
    },
    tools: { type: tools, meaning: "How Harness runs the tool calls of one response." },
    budgets: { type: budgetsType, default: "none", meaning: "Limits on cost, tokens, steps, calls and time." },
    prices: { type: byName(priceType, "model"), default: "built in", meaning: "What models cost." },
    rate_limits: { type: rateLimitsType, default: "none", meaning: "How often Harness may call models and tools." },
    memory: { type: memorySettings, meaning: "What the agent remembers of earlier sessions." },
    redaction: { type: redaction, meaning: "Which secrets Harness redacts." },
    retention: { type: retention, meaning: "How long the log keeps content." },
    audit: { type: audit, meaning: "How Harness detects that the log was replaced by an older copy." },
    log: { type: log, meaning: "How much the daemon writes to its log." },
    daemon: { type: daemon, meaning: "When a background daemon and its sessions end." },
    interface: { type: interfaceType, meaning: "How the terminal interface looks." },
    keys: {
      type: keysType,
      default: "[see the guide](../guide/terminal.md#keys)",
      meaning:
        'What the keys of the terminal interface do: each action by its name with its keys, for example `open-history = ["ctrl+r"]`. Press `?` in the interface for the actions. `[]` leaves an action without a key.',
    },
    ...shellHookFields,
    plugins: { type: pluginsType, default: "none", meaning: "Your own code that runs inside Harness." },
  },
});

/** What is not written is as in `base`: the settings of the built-in profile. Rules add up. */
export function toSettings(values: ValuesOf<typeof userTable.fields>, base: Settings = defaultSettings): Settings {
  const { system_prompt: systemPrompt, reader_timeout_s: readerS, permission_timeout: answerS } = values;
  const models = [...(values.model === undefined ? [] : [values.model]), ...(values.models ?? [])];
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
