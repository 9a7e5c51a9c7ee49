/** The composition root: the one file that knows every part and how they are put together. */
import { join, resolve } from "node:path";
import type { Settings } from "#artifacts";
import { type Clock, canonicalHash, createSystemRandom, createUlidFactory, type FilePort } from "#base";
import { type Control, createControl } from "#control";
import type { Plugin, SessionStore, Tool, ToolSource } from "#engine";
import { parseRule } from "#governance";
import { type CommandOf, createIdMint } from "#protocol";
import { chooseModel } from "#providers";
import { createMemoryStore, loadPortability, type MachineKey, openSqliteStore, type Sign } from "#sessions";
import { createBuiltinTools } from "#tools";
import type { UndoStoreOptions } from "#undo";
import { type OpenProject, openSession, type SessionDependencies } from "./open-session.ts";
import { registerPlugins } from "./plugins.ts";

export interface HarnessOptions {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Absolute path; a session may name another. */
  readonly workspace: string;
  /** `provider:name`; beats the settings. */
  readonly model?: string;
  readonly offlineAllowed: boolean;
  readonly scenarioFile: (name: string) => string;
  readonly store:
    | { readonly kind: "memory" }
    | { readonly kind: "sqlite"; readonly path: string; readonly key: () => MachineKey; readonly sign?: Sign }
    | { readonly kind: "jsonl"; readonly root: string };
  /**
   * Where undo keeps what mutating calls change; a call that cannot be kept there is then refused. Default `off`: nothing
   * is kept and nothing can be undone.
   */
  readonly undo?: "off" | Pick<UndoStoreOptions, "directory" | "key" | "limits">;
  /** Every permission request is answered with yes; deny rules still hold. */
  readonly autoApprove: boolean;
  /** How long a question waits for its answer when somebody is there; default 60 s. */
  readonly permissionTimeoutMs?: number;
  /** Instead of the built-in tools. */
  readonly toolSources?: readonly ToolSource[];
  readonly plugins?: readonly Plugin[];
  /** Values that conditions see as `ctx`, for every session. */
  readonly context?: CommandOf<"SetContext">["values"];
  /** How deep its sessions are in a tree of agents; default 0, the root. */
  readonly depth?: number;
  /** Finds the project of a workspace. Absent: files of a workspace say nothing. */
  readonly projects?: OpenProject;
  /** Keeps an allow rule for good; resolves to where it is written now. Absent: rules cannot be kept. */
  readonly keepRule?: (rule: string) => Promise<string>;
}

export interface Harness {
  readonly control: Control;
  /** `provider:name` that new sessions begin with. */
  readonly model: string;
  /** Tried in order when that model cannot answer. */
  readonly fallbacks: readonly string[];
  /** The offline model plays because nothing is configured. */
  readonly offline: boolean;
  tools(): readonly Tool[];
  /** Ends all sessions and closes the log. */
  shutdown(): Promise<void>;
}

/** Throws a ReasonError when the model, the store or a rule cannot be used. Makes no network call. */
export async function assembleHarness(options: HarnessOptions): Promise<Harness> {
  const { settings, env, clock } = options;
  const random = createSystemRandom();
  const ids = createIdMint(createUlidFactory({ clock, random }));
  const extensions = registerPlugins(options.plugins ?? [], () => control);
  const rules = [...settings.permissions, ...extensions.rules].map(({ effect, rule, source }) =>
    parseRule(rule, effect, source),
  );
  const rulesVersion = canonicalHash(rules.map(({ effect, text, source }) => [effect, text, source]));
  const toolSources = [...(options.toolSources ?? [createBuiltinTools()]), ...extensions.toolSources];
  const models = await chooseModel({
    settings,
    ...(options.model === undefined ? {} : { named: options.model }),
    offlineAllowed: options.offlineAllowed,
    extraProviders: extensions.providers,
    scenarioFile: options.scenarioFile,
    ports: { env, clock, random },
  });
  const store = extensions.store ?? (await openStore(options));
  const dependencies: SessionDependencies = {
    settings,
    env,
    clock,
    ids,
    store,
    models,
    extensions,
    toolSources,
    rules,
    rulesVersion,
    undoRecorder: prepareUndo(options),
    workspace: options.workspace,
    namedModel: options.model,
    autoApprove: options.autoApprove,
    context: options.context ?? {},
    keepRule: options.keepRule,
    projects: options.projects,
    depth: options.depth ?? 0,
  };
  const control: Control = createControl({
    clock,
    ids,
    store,
    open: (command, approver) => openSession(dependencies, command, approver),
    customHandlers: extensions.customHandlers,
    ...(options.permissionTimeoutMs === undefined ? {} : { permissionTimeoutMs: options.permissionTimeoutMs }),
  });
  return {
    control,
    model: models.model,
    fallbacks: models.fallbacks,
    offline: models.offline,
    tools: () => toolSources.flatMap((source) => source.tools()),
    shutdown: () => control.shutdown(),
  };
}

/** One store for all sessions and a recorder for each, loaded with the first call that changes something. */
function prepareUndo({ undo = "off", store, clock }: HarnessOptions): SessionDependencies["undoRecorder"] {
  if (undo === "off") return undefined;
  const ownPaths = logFiles(store);
  const loaded = once(async () => {
    const { createUndoRecorder, createUndoStore } = await import("#undo");
    const undoStore = createUndoStore({ ...undo, clock, ownPaths });
    return (files: FilePort) => createUndoRecorder(undoStore, files);
  });
  return (files) => {
    const recorder = once(async () => (await loaded())(files));
    return async (call, next) => (call.tool.class === "mutating" ? (await recorder())(call, next) : next(call));
  };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The log must never count as something that a call has changed. */
function logFiles(store: HarnessOptions["store"]): string[] {
  switch (store.kind) {
    case "memory":
      return [];
    case "jsonl":
      return [join(resolve(store.root), ".harness", "threads")];
    case "sqlite":
      return ["", "-wal", "-shm", "-journal"].map((suffix) => resolve(store.path) + suffix);
  }
}

async function openStore({ store, clock }: HarnessOptions): Promise<SessionStore> {
  switch (store.kind) {
    case "memory":
      return createMemoryStore();
    case "jsonl":
      return (await loadPortability()).openJsonlStore({ root: store.root, clock });
    case "sqlite":
      return openSqliteStore({ ...store, clock, key: store.key() });
  }
}
