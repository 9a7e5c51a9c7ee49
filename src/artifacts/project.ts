/**
 * A project as its files describe it: `harness.md` and `.harness/`, checked and with the place where each thing is written.
 * Plain data: nothing here runs anything. What a field means to people is in docs/reference/artifacts.md.
 */
import type { ArtifactKind, OptionalKind } from "./file-kinds.ts";
import type { DeclaredServer } from "./mcp-server.ts";
import type { LeftOutFile, OptionalFile } from "./optional-file.ts";
import type { LabelRule, ModelSettings, PermissionRule } from "./settings.ts";

/** Where something is written; `file` as people know it: relative to the project root, also in folders of the repository above it; absolute elsewhere. Both from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly severity: "error" | "warning";
  /** Stable, for tests and tools: `unknown-key`, `duplicate-name`, `script-syntax`. */
  readonly code: string;
  readonly place: SourceLocation;
  readonly message: string;
  /** Of the wrong value, with those of the tables around it: `model.max_tokens`. The message begins with it. */
  readonly key?: string;
  /** What would be right here. */
  readonly expected?: string;
  /** The nearest known name to the one that was written. */
  readonly nearest?: string;
}

/** Starlark as written in a file. Line 1 of `text` is at `place`, each further line one line down at the same column. */
export interface ScriptSource {
  readonly text: string;
  readonly place: SourceLocation;
}

/** `admin`: from the policy outside the project, which nothing below can loosen. */
export type Tier = "admin" | "project";

interface Artifact {
  readonly name: string;
  readonly place: SourceLocation;
  /** SHA-256 of the file it is written in, hex. */
  readonly hash: string;
  readonly tier: Tier;
  /** The bundle it came in; absent for a file of its own and for `harness.md`. */
  readonly bundle?: string;
}

export interface ParameterSpec {
  readonly name: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "object" | "array";
  readonly description?: string;
  readonly required: boolean;
  /** The only values it may have; absent: any of its type. */
  readonly enum?: readonly (string | number | boolean)[];
}

export interface ToolArtifact extends Artifact {
  readonly kind: "tool";
  /** For the model: the body, or the name when there is none. */
  readonly description: string;
  /** In the order in which they are written. */
  readonly parameters: readonly ParameterSpec[];
  /** Absent: declared only; a handler of that name must be supplied by the program. */
  readonly script?: ScriptSource;
  /** Absent or 0: no cap of its own. */
  readonly timeoutMs?: number;
  readonly async: boolean;
  /** When the bundle it came in is active. */
  readonly condition?: ScriptSource;
}

/** An example beside a rule: a payload it must, or must not, act on. */
export interface PolicyExample {
  readonly place: SourceLocation;
  readonly payload: unknown;
}

export interface HookArtifact extends Artifact {
  readonly kind: "hook";
  /** Canonical: `delegation.pre`, never its alias. */
  readonly event: string;
  readonly priority: number;
  readonly when?: ScriptSource;
  readonly script?: ScriptSource;
  readonly timeoutMs?: number;
  /** What a failure of the hook means; absent: the default of its event. */
  readonly onError?: "allow" | "block";
  /** Payloads that it blocks or modifies, and payloads that it lets pass unchanged. */
  readonly match: readonly PolicyExample[];
  readonly notMatch: readonly PolicyExample[];
  readonly condition?: ScriptSource;
}

/** A name defined elsewhere, or a definition private to the agent. */
export type Reference<Of> = { readonly ref: string; readonly place: SourceLocation } | Of;

export interface AgentArtifact extends Artifact {
  readonly kind: "agent";
  readonly description: string;
  /** The system prompt of the child. */
  readonly prompt: string;
  /** `provider:name`; a bare name when the project names no provider to take it from; absent: that of the parent. */
  readonly model?: string;
  /** The same model with what the agent, or `models`, says about it. */
  readonly modelConfig?: ModelConfig;
  readonly tools: readonly Reference<ToolArtifact>[];
  readonly hooks: readonly Reference<HookArtifact>[];
  /** Says whether its work was done. */
  readonly verify?: ScriptSource;
  readonly maxVerifyRetries?: number;
  readonly toolsPolicy?: ToolsPolicy;
  /** Where it works, if not in the workspace. */
  readonly isolation?: "worktree";
  readonly context?: ContextConfig;
  readonly condition?: ScriptSource;
  /** Servers that only this agent calls. */
  readonly mcpServers?: readonly DeclaredServer[];
}

export type BundleType = "plugin" | "builtin" | "harness" | "override";

/** A file in `.harness/{plugins,builtins,overrides}`: text for the prompt, and tools and hooks that come with it. */
export interface BundleArtifact extends Artifact {
  readonly kind: "bundle";
  readonly type: BundleType;
  /** Higher comes later in the prompt. */
  readonly priority: number;
  readonly version?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly condition?: ScriptSource;
  readonly body: string;
}

/** `allow` and `deny` entries: a glob over tool names, with where it is written. */
export interface PolicyPattern {
  readonly pattern: string;
  readonly place: SourceLocation;
}

export interface ToolsPolicy {
  readonly mode: "allowlist" | "denylist";
  readonly allow: readonly PolicyPattern[];
  readonly deny: readonly PolicyPattern[];
  readonly place?: SourceLocation;
}

export interface ModelConfig extends Omit<ModelSettings, "credential" | "fromProject" | "headers"> {
  readonly place: SourceLocation;
}

/** Where the text of a context source comes from. */
export type SourceOrigin =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "resource"; readonly server: string; readonly uri: string }
  | { readonly kind: "starlark"; readonly script: ScriptSource };

/** An entry of `context.sources`. */
export interface DeclaredSource {
  readonly name: string;
  readonly place: SourceLocation;
  readonly origin: SourceOrigin;
  readonly when?: ScriptSource;
  readonly refresh: "turn" | "session";
  readonly maxTokens: number;
  readonly required: boolean;
}

/** `off`: only when a person asks for it. */
export type CompactionMode = "summarize" | "prune" | "off";

export interface ContextConfig {
  /** Turns before the conversation is compacted; shown to the model at most, where it is not. */
  readonly maxHistory?: number;
  /** The size of a request above which the conversation is compacted. */
  readonly maxTokens?: number;
  readonly compaction?: CompactionMode;
  /** Writes the summaries, as a person wrote it. */
  readonly compactionModel?: string;
  readonly systemPrompt?: string;
  /** Files whose text joins the prompt, in order. */
  readonly files: readonly string[];
  /** Of the project, in their order; an agent has none. */
  readonly sources?: readonly DeclaredSource[];
}

export interface DelegationConfig {
  readonly maxDepth: number;
  readonly maxConcurrent: number;
  readonly iterationsPerDepth: readonly number[];
  readonly timeoutMs: number;
  readonly allowRecursive: boolean;
}

export interface MetaConfig {
  readonly enabled: boolean;
  readonly maxTools: number;
  readonly maxHooks: number;
  readonly maxAgents: number;
  readonly maxCallDepth: number;
}

export interface ServeSource {
  readonly type: "stdin" | "telegram" | "meshwire";
  readonly place: SourceLocation;
  /** The fields as written, checked. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface NetworkConfig {
  /** Present and empty: nothing may be reached. */
  readonly allowedDomains: readonly PolicyPattern[];
}

/** What a project or the admin policy may say; switching it off is the user's business. */
export type SandboxMode = "auto" | "required";

export interface BudgetConfig {
  readonly maxCostUsd?: number;
  readonly maxTokens?: number;
  readonly maxSteps?: number;
  readonly maxCalls?: number;
  readonly maxWallMs?: number;
}

/** A call that a permission rule says it does (`matches`), or does not, apply to: `Bash(git push)`, or a tool name. */
export interface PermissionExample {
  readonly effect: PermissionRule["effect"];
  readonly rule: string;
  readonly example: string;
  readonly matches: boolean;
  readonly place: SourceLocation;
}

export interface ProjectConfig {
  readonly model?: ModelConfig;
  readonly models: readonly ModelConfig[];
  /** As it is written. */
  readonly context: ContextConfig;
  /** What holds where neither the project nor the user says: nothing in a folder without a root file. */
  readonly contextDefaults: Pick<ContextConfig, "maxHistory" | "maxTokens">;
  /** Steps per turn of the root, when the project says so; the same as `delegation.iterationsPerDepth[0]`. */
  readonly maxSteps?: number;
  /** What no setting, variable or flag may exceed: the admin policy's. */
  readonly maxStepsCap?: number;
  readonly toolsPolicies: readonly { readonly tier: Tier; readonly policy: ToolsPolicy }[];
  readonly permissions: readonly PermissionRule[];
  readonly labelRules: readonly LabelRule[];
  /** What rules promise about themselves, still to be held against the engine of rules. */
  readonly permissionExamples: readonly PermissionExample[];
  readonly strictPermissions?: boolean;
  readonly delegation: DelegationConfig;
  readonly meta: MetaConfig;
  readonly serve: readonly ServeSource[];
  readonly mcpServers: readonly DeclaredServer[];
  /** Each list must allow a host; absent: any public host. */
  readonly networks: readonly { readonly tier: Tier; readonly network: NetworkConfig }[];
  readonly sandbox?: SandboxMode;
  readonly budgets: { readonly turn?: BudgetConfig; readonly session?: BudgetConfig; readonly tree?: BudgetConfig };
}

export interface Project {
  /** Absolute. */
  readonly root: string;
  /** `harness.md` or `harness.yaml`, as a `SourceLocation.file`; absent when there is none. */
  readonly configFile?: string;
  /** Changes when any file of the project or the admin policy does: SHA-256 over their names and hashes, hex. */
  readonly version: string;
  readonly config: ProjectConfig;
  /** The body of `harness.md`. */
  readonly identity?: { readonly text: string; readonly place: SourceLocation };
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly agents: readonly AgentArtifact[];
  readonly bundles: readonly BundleArtifact[];
  /** The texts of `context.files` of the project and its agents, each file once. */
  readonly contextFiles: readonly { readonly file: string; readonly text: string }[];
  /** Files for other agents as well, such as `AGENTS.md`: those that were allowed, kind by kind. */
  readonly optional: readonly OptionalFile[];
  /** Optional files whose version on disk has no effect. */
  readonly leftOut: readonly LeftOutFile[];
  /** Every file that is in force, `harness.md` first. */
  readonly files: readonly { readonly file: string; readonly hash: string; readonly bytes: number }[];
}

/** Errors and warnings of all files together, in the order of file and line. */
export interface LoadedProject {
  /**
   * Absent when there was an error, or when a file waits for an ack: a project is loaded whole or not at all. An optional file that
   * waits holds up the first load alone; later its last allowed version stays in force.
   */
  readonly project?: Project;
  readonly problems: readonly Problem[];
  /** Files that nobody has agreed to as they are; absent when there are none. */
  readonly awaiting?: readonly AwaitingFile[];
}

/** `context`: a file of `context.files`, of which only the text counts. */
export type FileKind = ArtifactKind | OptionalKind | "admin";

/**
 * A file that a project brings. The admin policy is not one: the project does not bring it. Eval cases are no part of a session, and
 * are judged when they are to be run.
 */
export interface JudgedFile {
  /** As a `SourceLocation.file`. */
  readonly file: string;
  readonly kind: Exclude<FileKind, "admin"> | "eval";
  /** SHA-256 of its bytes, hex. */
  readonly hash: string;
}

export interface AwaitingFile {
  readonly file: string;
  readonly kind: JudgedFile["kind"];
  readonly change: "new" | "changed" | "removed";
}

/**
 * Whether somebody has agreed to the files of a project as they are. Asked before a script of them is compiled or run and before
 * anything they say takes effect; given to the loader by whoever puts the parts together.
 */
export interface TrustPort {
  /** Never throws: what cannot be told waits. */
  judge(files: readonly JudgedFile[]): Judgement;
}

export interface Judgement {
  /** The files that wait for an answer; none: the project may take effect. */
  readonly awaiting: readonly AwaitingFile[];
  /** Optional files whose content, as it is now, was denied. */
  readonly denied: readonly string[];
}

/**
 * Checks what only the scripting part can: given to the loader by whoever puts the parts together, so that loading stays free of
 * the language. A returned problem has its place in the file already.
 */
export interface ScriptChecker {
  /** Changes when a check may find something else than before. Without it nothing that it found is kept for later. */
  readonly version?: string;
  tool(tool: ToolArtifact): readonly Problem[];
  /** The script, its `when:`, and what the examples beside it promise. */
  hook(hook: HookArtifact): readonly Problem[];
  /** A `condition:`; `what` names its owner in messages. */
  condition(what: string, condition: ScriptSource): readonly Problem[];
}
