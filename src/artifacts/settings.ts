/** What can be configured, with its defaults: the merged result of user configuration, project, environment and flags. */
import { type ContextSource, DEFAULT_CONTEXT_SOURCES } from "./context-sources.ts";
import type { McpServer } from "./mcp-server.ts";
import type { ContextConfig, ProjectConfig } from "./project.ts";
import type { ShellHook } from "./shell-hook.ts";

export interface RetrySettings {
  readonly maxRetries?: number;
  readonly initialBackoffMs?: number;
  readonly maxBackoffMs?: number;
  readonly multiplier?: number;
}

/** How long a model call may take. What is absent has the program's default. */
export interface TimeoutSettings {
  readonly headersMs?: number;
  readonly firstTokenMs?: number;
  readonly chunkMs?: number;
  /** All attempts of a step together, with the waits between them. */
  readonly stepMs?: number;
}

export const defaultTimeouts: Required<TimeoutSettings> = {
  headersMs: 60_000,
  firstTokenMs: 300_000,
  chunkMs: 30_000,
  stepMs: 300_000,
};
/** Bounds of each of them as a file may set it. */
export const MIN_TIMEOUT_S = 0.01;
export const MAX_TIMEOUT_S = 86_400;

export interface ModelSettings {
  /** `provider:name`. */
  readonly model: string;
  readonly baseUrl?: string;
  /** Name of the variable that holds the key; never the key. */
  readonly apiKeyEnv?: string;
  /** Name of a stored credential of the provider. */
  readonly credential?: string;
  /** A project chose the address or the key: what the user's keys are bound to does not grow by it. */
  readonly fromProject?: true;
  /** Wire family of a `custom` provider. */
  readonly family?: "openai" | "anthropic";
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The largest request that it takes, where nobody publishes it. */
  readonly contextTokens?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retry?: RetrySettings;
  readonly timeouts?: TimeoutSettings;
}

export interface PermissionRule {
  readonly effect: "allow" | "ask" | "deny";
  readonly rule: string;
  /** Where it is written: `config.toml:12`, `--allow`. */
  readonly source: string;
}

/** Results of these calls carry the label. */
export interface LabelRule {
  readonly label: "private" | "untrusted";
  readonly rule: string;
  readonly source: string;
}

export interface PriceSettings {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface RateSettings {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** What is absent has the store's default. */
export interface RetentionSettings {
  /** Days after which content goes. */
  readonly contentDays?: number;
  /** Days before that in which a session is named. */
  readonly warnDays?: number;
  /** Content goes earlier, oldest first, when the log is larger. */
  readonly maxStoreMb?: number;
}

export type LogLevelName = "trace" | "debug" | "info" | "warn" | "error" | "off";

/** The program's own log. What is absent has the log's default. */
export interface LogSettings {
  readonly level?: LogLevelName;
  /** By component: `engine`, `provider.openai`. */
  readonly components: Readonly<Record<string, LogLevelName>>;
  readonly keepDays?: number;
  /** Of one file. */
  readonly maxMb?: number;
}

export interface MemorySettings {
  /** Memories join turns. */
  readonly enabled: boolean;
  /** The agent may write memories. */
  readonly write: boolean;
  /** Of the memories that join one turn. Absent: the default of their choice. */
  readonly maxTokens?: number;
}

/** What is absent is as the project says. */
export type ContextSettings = Pick<ContextConfig, "maxHistory" | "maxTokens" | "compaction" | "compactionModel">;

export interface DaemonSettings {
  /** With nobody attached and nothing to do for this long, a daemon in the background ends. */
  readonly idleMinutes: number;
  /** With nobody attached and nothing to do for this long, a session of a daemon ends; it can be opened again. */
  readonly sessionIdleMinutes: number;
}

export interface InterfaceSettings {
  readonly theme: "auto" | "dark" | "light" | "high-contrast" | "none";
  readonly vim: boolean;
  /** The line interface instead of the full one. */
  readonly isPlain: boolean;
  readonly isCostShown: boolean;
}

export interface NetworkSettings {
  /** `name` (with what is below it), `*.name`, `*`, or an address. Absent: any public host. Empty: none. */
  readonly allowedDomains?: readonly string[];
  /** `direct`: allowed commands use the machine's network instead of the egress proxy. */
  readonly mode?: "proxy" | "direct";
  /** Ports of the machine's loopback that allowed commands reach. */
  readonly loopbackPorts?: readonly number[];
}

/** Code of the user that runs in this process. */
export interface PluginPin {
  /** Absolute path of its one file. */
  readonly path: string;
  /** Hex. Absent: nobody has pinned it, and it is not loaded. */
  readonly sha256?: string;
  /** `config.toml:12`. */
  readonly place: string;
}

/** Built-in tools that a profile offers together. */
export type ToolPack = "fs" | "shell" | "web";

export interface ProfileInForce {
  readonly name: string;
  readonly scope: ProfileScope;
  /** Its file, or `built-in`. */
  readonly source: string;
  /** The keys that its file sets. */
  readonly sets: readonly string[];
  /** SHA-256 of what was read of its file. Absent for a built-in one, whose file nobody edits. */
  readonly version?: string;
  /** Instead of `content_days` of config.toml, for the sessions of this profile. */
  readonly contentDays?: number;
  /** What was read of it. Absent for a built-in one. */
  readonly files?: ProfileFiles;
  /** Why the session has the version that it was last opened with, instead of what is on disk. */
  readonly kept?: string;
}

export interface ProfileFiles {
  readonly text: string;
  /** Those that it names, in that order. */
  readonly presets: readonly { readonly file: string; readonly text: string }[];
}

/** `file`: one that was named by its path. */
export type ProfileScope = "built-in" | "user" | "project" | "file";

export interface Settings {
  /** The last profile that was applied. */
  readonly profile: ProfileInForce;
  /** By key of a profile, who set its value last: a file, or `built-in`. Absent: nobody has. */
  readonly origins: Readonly<Record<string, string>>;
  /** The first is the default; the others are its fallbacks and what SetModel may name. Empty: choose by the keys found. */
  readonly models: readonly ModelSettings[];
  readonly permissions: readonly PermissionRule[];
  readonly labelRules: readonly LabelRule[];
  /** No quiet preset: every call that is not allowed by a rule asks. */
  readonly strictPermissions: boolean;
  /** How long a question of a daemon or of `harness rpc` waits for its answer. Absent: a minute. */
  readonly permissionTimeoutMs?: number;
  /** USD per million tokens, by `provider:name`. */
  readonly prices: Readonly<Record<string, PriceSettings>>;
  readonly rateLimits: {
    readonly global?: RateSettings;
    readonly models: Readonly<Record<string, RateSettings>>;
    /** By tool name or pattern. */
    readonly tools: readonly { readonly tool: string; readonly callsPerMinute: number }[];
  };
  readonly tools: { readonly execution: "auto" | "sequential" | "parallel"; readonly onError: "stop" | "continue" };
  readonly maxSteps: number;
  /** `required`: without a sandbox on the machine no session begins. `off`: the user does without one. */
  readonly sandbox: "auto" | "required" | "off";
  /** Folders of the machine that commands see, read-only, besides the usual ones. */
  readonly sandboxPaths: readonly string[];
  /** How long a command may take that nobody was asked about. */
  readonly readerTimeoutMs?: number;
  readonly network?: NetworkSettings;
  readonly mcpServers: readonly McpServer[];
  /** Servers that only the agent of that name calls: of a project, approved. */
  readonly agentServers?: Readonly<Record<string, readonly McpServer[]>>;
  readonly retention: RetentionSettings;
  /** `keychain`: the newest head of the log is kept in the keychain of the system as well. */
  readonly audit: { readonly keychain: boolean };
  readonly log: LogSettings;
  readonly daemon: DaemonSettings;
  readonly interface: InterfaceSettings;
  /** Keys of the terminal interface, by action. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** By name, in the order in which they are written. Of the user's own file alone. */
  readonly plugins: Readonly<Record<string, PluginPin>>;
  /** Shell hooks of the user. */
  readonly hooks: readonly ShellHook[];
  /** Shell hooks of a project run once they were acked. Of the user's own file and flags alone. */
  readonly allowProjectHooks: boolean;
  readonly memory: MemorySettings;
  readonly context: ContextSettings;
  readonly redaction: {
    /** What else is a secret: RE2 syntax. */
    readonly patterns: readonly { readonly kind: string; readonly pattern: string }[];
    /** Kinds of the built-in table that are not looked for. */
    readonly disabledKinds: readonly string[];
  };
  /** What is absent has no limit. */
  readonly budgets: ProjectConfig["budgets"];
  /** Which context files of a repository are read. */
  readonly contextSources: readonly ContextSource[];
  /** Replaces the standing system prompt. */
  readonly systemPrompt?: string;
  /** Added to the system prompt by a profile. */
  readonly promptHeader?: { readonly text: string; readonly source: string };
  /** Absent: all built-in tools. */
  readonly toolPacks?: readonly ToolPack[];
  /** Absent: those that ship with the program. */
  readonly skillPacks?: readonly string[];
}

/** Steps per turn at the root, unless the project or the user says otherwise (ADR 41). */
export const DEFAULT_MAX_STEPS = 100;

const DEFAULT_IDLE_MINUTES = 30;

export const defaultDaemonSettings: DaemonSettings = {
  idleMinutes: DEFAULT_IDLE_MINUTES,
  sessionIdleMinutes: DEFAULT_IDLE_MINUTES,
};

/** What `profiles/default.toml` says. A test compares them, so that most runs need not read the file. */
export const defaultSettings: Settings = {
  profile: {
    ...{ name: "default", scope: "built-in", source: "built-in" },
    sets: ["context_sources", "allow_project_hooks"],
  },
  origins: { context_sources: "built-in", allow_project_hooks: "built-in" },
  models: [],
  mcpServers: [],
  permissions: [],
  labelRules: [],
  strictPermissions: false,
  prices: {},
  rateLimits: { models: {}, tools: [] },
  tools: { execution: "auto", onError: "stop" },
  maxSteps: DEFAULT_MAX_STEPS,
  sandbox: "auto",
  sandboxPaths: [],
  retention: {},
  audit: { keychain: false },
  log: { components: {} },
  daemon: defaultDaemonSettings,
  interface: { theme: "auto", vim: false, isPlain: false, isCostShown: true },
  keys: {},
  plugins: {},
  hooks: [],
  allowProjectHooks: false,
  memory: { enabled: true, write: false },
  context: {},
  redaction: { patterns: [], disabledKinds: [] },
  budgets: {},
  contextSources: DEFAULT_CONTEXT_SOURCES,
};
