/** `config.toml`: the tables of the user's own configuration, and what the program makes of them. */
import { defined, isDomainEntry } from "#base";
import { budgetsType } from "./limits-table.ts";
import { MAX_MODELS } from "./model-table.ts";
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
  type NetworkSettings,
  type PermissionRule,
  type Settings,
} from "./settings.ts";
import { priceType, rateLimitsType, userModelType } from "./user-model-table.ts";

const MAX_STEPS = 1000;
const MAX_RULES = 10_000;
const MAX_DOMAINS = 10_000;
const MAX_PATHS = 64;
const MAX_PORTS = 16;
const MAX_PORT = 65_535;
const MAX_READER_S = 600;
const MAX_PERMISSION_S = 24 * 60 * 60;
const MAX_LOG_DAYS = 3650;
const MAX_PATTERNS = 1000;

const rules = list(placed(words("permission rule")), { max: MAX_RULES });

const permissionsTable = defineTable({
  title: "Permissions",
  about: "Rules: [permissions.md](permissions.md). Rules of flags are added to them.",
  fields: {
    allow: { type: rules, default: "`[]`", meaning: "Calls that run without a question." },
    ask: { type: rules, default: "`[]`", meaning: "Calls that a person is asked about." },
    deny: { type: rules, default: "`[]`", meaning: "Calls that are refused." },
    private: {
      type: rules,
      default: "`[]`",
      meaning: "Calls whose results are private: [labels](permissions.md#labels).",
    },
    untrusted: { type: rules, default: "`[]`", meaning: "Calls whose results come from outside." },
    strict: { type: flag, default: `\`${defaultSettings.strictPermissions}\``, meaning: "No quiet preset." },
  },
});

interface UserRules {
  readonly permissions: readonly PermissionRule[];
  readonly labelRules: readonly LabelRule[];
  readonly strict?: boolean;
}

const permissions: FieldType<UserRules> = nested(permissionsTable, ({ values }) => {
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
});

const toolsTable = defineTable({
  title: "Tools",
  about: "How the calls of one response are run.",
  fields: {
    execution: {
      type: choice("auto", "sequential", "parallel"),
      default: `\`"${defaultSettings.tools.execution}"\``,
      meaning:
        "`auto`: read-only calls of a response side by side, mutating ones alone. `sequential` or `parallel` forces one way.",
    },
    on_error: {
      type: choice("stop", "continue"),
      default: `\`"${defaultSettings.tools.onError}"\``,
      meaning:
        "`stop`: after a failed call the later mutating calls of that response are not executed. `continue`: they are.",
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
        "Days after which the content of events goes from the encrypted log; what happened and when stays. Pinned sessions keep it, and open ones until they are closed. A clock that [leaps ahead](../reliability.md#clock-steps) does not count at once.",
    },
    warn_days: {
      type: amount,
      default: "`7`",
      meaning: "Sessions that lose content within so many days are named, once a day.",
    },
    max_store_mb: {
      type: positive,
      default: "`4096`",
      meaning: "Content goes earlier, oldest first, while the log is larger.",
    },
  },
});

const retention: FieldType<Settings["retention"]> = nested(retentionTable, ({ values }) =>
  defined({ contentDays: values.content_days, warnDays: values.warn_days, maxStoreMb: values.max_store_mb }),
);

const auditTable = defineTable({
  title: "Audit",
  about: "How an older copy of the log is found out.",
  fields: {
    keychain: {
      type: flag,
      default: `\`${defaultSettings.audit.keychain}\``,
      meaning:
        "Keeps the newest head of the log in the keychain of the system too ([evidence.md](evidence.md#the-last-known-head)): `secret-tool` on Linux, `security` on macOS. A locked keychain may ask for its password when a session ends.",
    },
  },
});

const audit: FieldType<Settings["audit"]> = nested(auditTable, ({ values }) => ({
  keychain: values.keychain ?? defaultSettings.audit.keychain,
}));

const level = choice("trace", "debug", "info", "warn", "error", "off");

const logTable = defineTable({
  title: "Log",
  about: "How much the daemon writes into [its log](../guide/daemon.md#its-log).",
  fields: {
    level: { type: level, default: '`"info"`', meaning: "For all components." },
    components: {
      type: byName(level, "component"),
      default: "as `level`",
      meaning: "The same for one component and what is below it: `engine`, `provider.openai`.",
    },
    keep_days: { type: integer(1, MAX_LOG_DAYS), default: "`14`", meaning: "Days whose files stay, today included." },
    max_mb: {
      type: positive,
      default: "`32`",
      meaning: "Of one file; then it is put aside, and a day has two at most.",
    },
  },
});

const log: FieldType<Settings["log"]> = nested(logTable, ({ values }) => ({
  components: values.components ?? {},
  ...defined({ level: values.level, keepDays: values.keep_days, maxMb: values.max_mb }),
}));

const daemonTable = defineTable({
  title: "Daemon",
  about: "When a daemon in the background, and its sessions, end by themselves.",
  fields: {
    idle_minutes: {
      type: positive,
      default: `\`${defaultDaemonSettings.idleMinutes}\``,
      meaning: "With nobody attached and nothing to do for so long, the daemon ends.",
    },
    session_idle_minutes: {
      type: positive,
      default: `\`${defaultDaemonSettings.sessionIdleMinutes}\``,
      meaning: "With nobody attached and nothing to do for so long, a session ends; pinned ones stay.",
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
    "What else is a secret. A match longer than 256 characters may be missed. A pattern that cannot be used is `RedactionFailed`, and no session begins.",
  fields: {
    kind: {
      type: words("letters, digits, `_`, `.`, `-`"),
      required: true,
      meaning: "Stands in the marker.",
    },
    pattern: { type: words("RE2 syntax"), required: true, meaning: "What is taken out." },
  },
});

const redactionTable = defineTable({
  title: "Redaction",
  about: "What is taken out of everything that leaves the program: [redaction.md](redaction.md).",
  fields: {
    patterns: {
      type: list(
        nested(patternTable, ({ values: { kind, pattern } }) =>
          kind === undefined || pattern === undefined ? undefined : { kind, pattern },
        ),
        { max: MAX_PATTERNS },
      ),
      default: "`[]`",
      meaning: "Further secrets, at most 100 patterns.",
    },
    disabled_kinds: {
      type: list(text("kind"), { max: MAX_PATTERNS }),
      default: "`[]`",
      meaning:
        "Kinds of the [table](redaction.md#kinds) that are not looked for. A kind that does not exist is `RedactionFailed`.",
    },
  },
});

const redaction: FieldType<Settings["redaction"]> = nested(redactionTable, ({ values }) => ({
  patterns: values.patterns ?? [],
  disabledKinds: values.disabled_kinds ?? [],
}));

const networkTable = defineTable({
  title: "Network",
  about: "What commands and `web.fetch` may reach.",
  fields: {
    allowed_domains: {
      type: list(textThat("host name, address, `*.name` or `*`, without scheme and port", isDomainEntry), {
        max: MAX_DOMAINS,
      }),
      meaning:
        "The hosts: [the list](#the-list-of-domains). Absent: any public host. An empty list, or an empty table `[network]`: none.",
    },
    mode: {
      type: choice("proxy", "direct"),
      default: '`"proxy"`',
      meaning:
        "`proxy`: allowed commands reach hosts through the egress proxy, which records each connection. `direct`: they use the machine's network, unless there is a list.",
    },
    loopback_ports: {
      type: list(integer(1, MAX_PORT), { max: MAX_PORTS }),
      default: "`[]`",
      meaning: "Ports of the machine's loopback that allowed commands reach, such as a database: `[5432]`. At most 16.",
    },
  },
});

const network: FieldType<NetworkSettings> = nested(networkTable, ({ values }, _reader, tree) => {
  // An empty table means the same as an empty list: whoever writes it wants a limit.
  const listed = tree.entries.length === 0 ? [] : values.allowed_domains;
  return defined({ allowedDomains: listed, mode: values.mode, loopbackPorts: values.loopback_ports });
});

export const userTable = defineTable({
  title: "Keys",
  about: "Every key is optional. A key with a section of its own is a TOML table: `[retention]`.",
  fields: {
    model: { type: userModelType, default: "[by the keys that are set](#which-model)", meaning: "The default model." },
    models: {
      type: list(userModelType, { max: MAX_MODELS }),
      default: "`[]`",
      meaning:
        "More models: fallbacks of the default in this order. In a conversation `/model` takes them by their name alone.",
    },
    max_steps: {
      type: integer(1, MAX_STEPS),
      default: `\`${DEFAULT_MAX_STEPS}\``,
      meaning: "Model calls per turn.",
    },
    system_prompt: {
      type: text(),
      default: "built in",
      meaning: "Replaces the standing text about who the agent is. The line with the workspace stays.",
    },
    permissions: { type: permissions, meaning: "Which calls run, ask or are refused." },
    sandbox: {
      type: choice("auto", "required", "off"),
      default: `\`"${defaultSettings.sandbox}"\``,
      meaning:
        "`auto`: commands run in a [sandbox](../security.md#os-sandbox); on a machine without one each command needs a person's answer. `required`: without one no session begins (`SandboxUnavailable`). `off`: commands run with your rights, and none runs without a rule or an answer. Only this file and `--sandbox` switch it off; `off` in `harness.md` has no effect.",
    },
    sandbox_paths: {
      type: list(
        textThat("absolute path", (path) => path.startsWith("/")),
        { max: MAX_PATHS },
      ),
      default: "`[]`",
      meaning: `Folders of the machine that commands see, read-only, besides [the usual ones](../security.md#what-both-see): an SDK in \`/srv\`, for example. At most ${MAX_PATHS}.`,
    },
    permission_timeout: {
      type: number(MIN_TIMEOUT_S, MAX_PERMISSION_S),
      default: "`60`",
      meaning:
        "Seconds that a permission request or a question of the daemon and of `harness rpc` waits for its answer. At the terminal of `harness run` a person has a day.",
    },
    reader_timeout_s: {
      type: number(MIN_TIMEOUT_S, MAX_READER_S),
      default: "`10`",
      meaning: "Seconds that a command may take that nobody was asked about.",
    },
    network: { type: network, meaning: "What commands and `web.fetch` may reach." },
    tools: { type: tools, meaning: "How the calls of one response are run." },
    budgets: { type: budgetsType, default: "none", meaning: "What may be used up." },
    prices: { type: byName(priceType, "model"), default: "built in", meaning: "What models cost." },
    rate_limits: { type: rateLimitsType, default: "none", meaning: "How often models and tools are asked." },
    redaction: { type: redaction, meaning: "What else is a secret, and what is none." },
    retention: { type: retention, meaning: "How long the log keeps content." },
    audit: { type: audit, meaning: "How an older copy of the log is found out." },
    log: { type: log, meaning: "How much the daemon writes into its log." },
    daemon: { type: daemon, meaning: "When a daemon in the background ends." },
    plugins: { type: pluginsType, default: "none", meaning: "Code of yours that runs inside Harness." },
  },
});

/** What is not written has its default. */
export function toSettings(values: ValuesOf<typeof userTable.fields>): Settings {
  const { system_prompt: systemPrompt, reader_timeout_s: readerS, permission_timeout: answerS } = values;
  return {
    models: [...(values.model === undefined ? [] : [values.model]), ...(values.models ?? [])],
    permissions: values.permissions?.permissions ?? [],
    labelRules: values.permissions?.labelRules ?? [],
    strictPermissions: values.permissions?.strict ?? defaultSettings.strictPermissions,
    prices: values.prices ?? {},
    rateLimits: values.rate_limits ?? defaultSettings.rateLimits,
    tools: values.tools ?? defaultSettings.tools,
    maxSteps: values.max_steps ?? DEFAULT_MAX_STEPS,
    sandbox: values.sandbox ?? defaultSettings.sandbox,
    sandboxPaths: values.sandbox_paths ?? [],
    ...defined({
      permissionTimeoutMs: answerS === undefined ? undefined : answerS * 1000,
      readerTimeoutMs: readerS === undefined ? undefined : readerS * 1000,
      network: values.network,
    }),
    retention: values.retention ?? {},
    audit: values.audit ?? defaultSettings.audit,
    log: values.log ?? defaultSettings.log,
    daemon: values.daemon ?? defaultDaemonSettings,
    plugins: values.plugins ?? {},
    redaction: values.redaction ?? defaultSettings.redaction,
    budgets: values.budgets ?? {},
    ...defined({ systemPrompt }),
  };
}
