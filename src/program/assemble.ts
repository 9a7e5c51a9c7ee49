/** The composition root: the one file that knows every part and how they are put together. */

import { join, resolve } from "node:path";
import type { Settings } from "#artifacts";
import { type Clock, canonicalHash, createUlidFactory, defined, type EffectPorts, once } from "#base";
import { type Control, createControl, type RestoreCommand } from "#control";
import {
  type CacheCounters,
  type CallTrace,
  type CheckToken,
  type CredentialPort,
  type CredentialStatus,
  loadedRedaction,
  type Plugin,
  type Redaction,
  type SessionStore,
  type Tool,
  type ToolSource,
} from "#engine";
import { parseRule } from "#governance";
import { type Command, type CommandOf, createIdMint, type RedactionSummary, type SessionId } from "#protocol";
import { chooseModel, createLimiters, type ModelChoice } from "#providers";
import {
  type OpenProject,
  openSession,
  prepareSandbox,
  type SessionDependencies,
  type TapedWorld,
  type Undo,
} from "#session";
import {
  createMemoryStore,
  type HeadsPlace,
  loadPortability,
  type MachineKey,
  openSqliteStore,
  ownFolders,
  type Signer,
} from "#stores";
import { createBuiltinTools } from "#tools";
import type { UndoStoreOptions, UndoTarget } from "#undo";
import { createScratchFolders, createSystemRandom, createWorkspaceRestore } from "#world";
import { registerPlugins } from "./plugins.ts";
import { loadRedaction } from "./redaction.ts";
import type { CassetteOption } from "./tape.ts";
import { unwatched, type WriteHealth, watchWrites } from "./watched-store.ts";

/** Choices of models that projects made and that are kept. */
const MAX_MODEL_CHOICES = 64;

export interface HarnessOptions {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who has the keys of the models. Closed with the harness. */
  readonly credentials: CredentialPort;
  readonly clock: Clock;
  /** Absolute path; a session may name another. */
  readonly workspace: string;
  /**
   * Absolute path: a session that names no folder gets one of its own in here, where `workspace` cannot be a workspace. Absent: such a
   * session is refused.
   */
  readonly scratch?: string;
  /** `provider:name`; beats the settings. */
  readonly model?: string;
  readonly offlineAllowed: boolean;
  readonly scenarioFile: (name: string) => string;
  readonly store:
    | { readonly kind: "memory" }
    | { readonly kind: "sqlite"; readonly path: string; readonly key: () => MachineKey }
    | { readonly kind: "jsonl"; readonly root: string };
  /** Signs the log at the end of each turn; without it the log is chained, not signed. */
  readonly signer?: Signer;
  /** Where the last known heads of logs on disk are kept; without it an older copy of a log is not noticed. */
  readonly heads?: HeadsPlace;
  /**
   * Where undo keeps what mutating calls change; a call that cannot be kept there is then refused. Default `off`: nothing
   * is kept and nothing can be undone.
   */
  readonly undo?: "off" | Pick<UndoStoreOptions, "directory" | "key" | "limits" | "settled">;
  /** Further files of the program that commands must not see, wherever they are: sockets and tokens of a service. */
  readonly ownPaths?: readonly string[];
  /** Every permission request is answered with yes; deny rules still hold. */
  readonly autoApprove: boolean;
  /** How long a question waits for its answer when somebody is there; default 60 s. */
  readonly permissionTimeoutMs?: number;
  /** A question waits that long also when no client is there to answer it yet; default: it is denied at once then. */
  readonly waitsForHumans?: boolean;
  /** Whether a token still holds that an input came with which had to wait. Absent: such an input does not begin. */
  readonly checkToken?: CheckToken;
  /** Instead of the built-in tools. */
  readonly toolSources?: readonly ToolSource[];
  readonly plugins?: readonly Plugin[];
  /** Values that conditions see as `ctx`, for every session. */
  readonly context?: CommandOf<"SetContext">["values"];
  /** What `os.args()` gives to scripts: the program and its arguments. Default: none. */
  readonly args?: readonly string[];
  /** How deep its sessions are in a tree of agents; default 0, the root. */
  readonly depth?: number;
  /** Finds the project of a workspace. Absent: files of a workspace say nothing. */
  readonly projects?: OpenProject;
  /** Keeps an allow rule for good; resolves to where it is written now. Absent: rules cannot be kept. */
  readonly keepRule?: (rule: string) => Promise<string>;
  /** Instead of the redaction that ships with the program. Without one there is no session. */
  readonly redaction?: () => Promise<Redaction>;
  /** Asked before each model call of a session: undefined, or who wants to see it. */
  readonly traceCall?: (session: SessionId) => CallTrace | undefined;
  /** Stands between the gate and the world of each session, to see what reaches it. Trusted as much as the ports themselves. */
  readonly observePorts?: (ports: EffectPorts) => EffectPorts;
  /**
   * Records what comes from outside into a file, written at shutdown, or plays one instead of the outside. Nothing is then kept
   * for undo. A replay needs no key, makes no connection and starts no program; its files are real.
   */
  readonly cassette?: CassetteOption;
}

export interface Harness {
  readonly control: Control;
  /** The log of all sessions, for faces that list and read it; whoever writes events goes through the control. */
  readonly store: Pick<SessionStore, "get" | "list" | "read" | "update">;
  /** The whole store, for taking sessions out of it and branching them. */
  readonly archive: SessionStore;
  /** `provider:name` that new sessions begin with. */
  readonly model: string;
  /** Tried in order when that model cannot answer. */
  readonly fallbacks: readonly string[];
  /** The offline model plays because nothing is configured. */
  readonly offline: boolean;
  /**
   * In a replay: the commands that its clients have to submit, in order. What people did while a turn ran (answers, a cancel) is
   * not among them: the cassette does it.
   */
  readonly recordedCommands: readonly Command[];
  tools(): readonly Tool[];
  health(): Health;
  /**
   * Ends all sessions and closes the log. Recording: writes the cassette, or rejects with CassetteNotWritten. Replaying: rejects with
   * CassetteMismatch when something was missing or left over that no turn and no command was refused with.
   */
  shutdown(): Promise<void>;
}

/** How the parts are that can fail while the program runs. */
export interface Health {
  readonly credentialHelper: CredentialStatus;
  readonly writes: WriteHealth;
  readonly redaction: {
    readonly state: "loading" | "loaded" | "failed";
    /** What it remembers of texts that have passed; absent where it remembers none. */
    readonly cache?: CacheCounters;
    /** What it has replaced so far; absent where nobody counts. */
    readonly totals?: RedactionSummary;
  };
}

/** Throws a ReasonError when the model, the store or a rule cannot be used. Makes no network call. */
export async function assembleHarness(options: HarnessOptions): Promise<Harness> {
  const { settings, env, credentials } = options;
  const redaction = loadedRedaction(options.redaction ?? (() => loadRedaction(options)));
  let redactionHealth: Health["redaction"] = { state: "loading" };
  let loadedParts: Pick<Redaction, "cache" | "totals"> = {};
  // Whoever opens a session is told of a failure.
  redaction.then(
    (loaded) => {
      redactionHealth = { state: "loaded" };
      loadedParts = loaded;
    },
    () => {
      redactionHealth = { state: "failed" };
    },
  );
  const extensions = registerPlugins(options.plugins ?? [], () => control);
  const limiterFor = createLimiters({ clock: options.clock });
  const chooseFor = (chosenBy: Settings): Promise<ModelChoice> =>
    chooseModel({
      settings: chosenBy,
      ...defined({ named: options.model }),
      offlineAllowed: options.offlineAllowed,
      extraProviders: extensions.providers,
      scenarioFile: options.scenarioFile,
      ports: { env, credentials, clock: options.clock, random: createSystemRandom(), limiterFor },
    });
  const choose = (): Promise<ModelChoice> => chooseFor(settings);
  const taped = await openTaped(options, choose);
  const models = taped?.models ?? (await choose());
  const { clock, random } = taped?.tape ?? { clock: options.clock, random: createSystemRandom() };
  const ids = createIdMint(createUlidFactory({ clock, random }));
  const rules = [...settings.permissions, ...extensions.rules].map(({ effect, rule, source }) =>
    parseRule(rule, effect, taped?.asRecorded(source) ?? source),
  );
  const rulesVersion = canonicalHash(rules.map(({ effect, text, source }) => [effect, text, source]));
  const toolSources = [...(options.toolSources ?? [createBuiltinTools(clock)]), ...extensions.toolSources];
  const watched = extensions.store === undefined ? watchWrites(await openStore(options)) : unwatched(extensions.store);
  const store = taped?.store(watched.store) ?? watched.store;
  const ownPaths = [...ownFolders(env), ...(options.ownPaths ?? []).map((path) => resolve(path))];
  const undoFolder = options.undo === undefined || options.undo === "off" ? [] : [options.undo.directory];
  const dependencies: SessionDependencies = {
    settings,
    env,
    clock,
    ids,
    store,
    models,
    modelsFor: taped === undefined ? sharedChoices(settings, models, chooseFor) : async () => models,
    extensions,
    toolSources,
    rules,
    rulesVersion,
    undo: taped === undefined ? prepareUndo(options, ownPaths) : undefined,
    workspace: taped?.asRecorded(options.workspace) ?? options.workspace,
    scratch: options.scratch === undefined ? undefined : createScratchFolders(options.scratch),
    namedModel: options.model,
    autoApprove: options.autoApprove,
    context: options.context ?? {},
    keepRule: options.keepRule && (taped?.keepRule(options.keepRule) ?? options.keepRule),
    projects: options.projects,
    args: options.args ?? [],
    depth: options.depth ?? 0,
    observePorts: options.observePorts,
    traceCall: options.traceCall,
    adopt: (parent, open) => control.adopt(parent, open),
    redaction,
    secretsTold: () => credentials.told(),
    checkToken: options.checkToken,
    taped,
    ownPaths,
    sandboxFor: prepareSandbox({
      env,
      clock: options.clock,
      ownPaths: [...logFiles(options.store), ...undoFolder, ...ownPaths],
    }),
  };
  const own = createControl({
    clock,
    ids,
    store,
    open: (command, approver, onTaken) => openSession(dependencies, command, approver, undefined, onTaken),
    customHandlers: extensions.customHandlers,
    ...defined({ waitsForHumans: options.waitsForHumans, permissionTimeoutMs: options.permissionTimeoutMs }),
  });
  const control: Control = taped?.control(own) ?? own;
  return {
    control,
    store: readableStore(store, redaction),
    archive: store,
    model: models.model,
    fallbacks: models.fallbacks,
    offline: models.offline,
    recordedCommands: taped?.tape.commands ?? [],
    tools: () => toolSources.flatMap((source) => source.tools()),
    health: () => ({
      credentialHelper: credentials.status(),
      writes: watched.health(),
      redaction: {
        ...redactionHealth,
        ...(loadedParts.cache && { cache: loadedParts.cache() }),
        ...(loadedParts.totals && { totals: loadedParts.totals() }),
      },
    }),
    async shutdown() {
      try {
        await control.shutdown();
      } finally {
        credentials.close();
      }
    },
  };
}

/** Projects with the same models share a choice, and with it its connections. */
function sharedChoices(
  settings: Settings,
  models: ModelChoice,
  choose: (settings: Settings) => Promise<ModelChoice>,
): (settings: Settings) => Promise<ModelChoice> {
  const keyOf = (one: Settings): string => JSON.stringify(one.models);
  const ofProgram = keyOf(settings);
  /** Oldest first. */
  const known = new Map<string, ModelChoice>();
  return async (wanted) => {
    const key = keyOf(wanted);
    const found = key === ofProgram ? models : known.get(key);
    if (found !== undefined) return found;
    const made = await choose(wanted);
    known.set(key, made);
    const [oldest] = known.keys();
    if (known.size > MAX_MODEL_CHOICES && oldest !== undefined) known.delete(oldest);
    return made;
  };
}

/** A title is stored as it is shown, so that it passes redaction like everything else that is stored. */
function readableStore(store: SessionStore, redaction: Promise<Redaction>): Harness["store"] {
  return {
    get: (id) => store.get(id),
    list: (options) => store.list(options),
    read: (id, options) => store.read(id, options),
    async update(id, change) {
      if (change.title === undefined) return store.update(id, change);
      const [title] = (await redaction).output([{ type: "text", text: change.title }]);
      return store.update(id, { ...change, title: title?.type === "text" ? title.text : "" });
    },
  };
}

async function openTaped(options: HarnessOptions, choose: () => Promise<ModelChoice>): Promise<TapedWorld | undefined> {
  if (options.cassette === undefined) return undefined;
  const { openTapedWorld } = await import("./tape.ts");
  return openTapedWorld(options.cassette, options, choose);
}

/** One store for all sessions and a recorder for each, loaded with the first call that changes something. */
function prepareUndo(
  { undo: place = "off", store, clock }: HarnessOptions,
  further: readonly string[],
): Undo | undefined {
  if (place === "off") return undefined;
  const ownPaths = [...logFiles(store), ...further];
  const loaded = once(async () => {
    const undo = await import("#undo");
    return { ...undo, undoStore: undo.createUndoStore({ ...place, clock, ownPaths }) };
  });
  return {
    recorder(files) {
      const recorder = once(async () => {
        const { createUndoRecorder, undoStore } = await loaded();
        return createUndoRecorder(undoStore, files);
      });
      // What only reads needs none, unless it is part of a call that changes something.
      return async (call, next) =>
        call.tool.class === "mutating" || call.parent !== undefined ? (await recorder())(call, next) : next(call);
    },
    async restore(bus, root, command, by) {
      const { undo, redo, restoredEvent, undoStore } = await loaded();
      const report = await (command.kind === "Redo" ? redo : undo)({
        workspace: undoStore.workspace(root),
        port: createWorkspaceRestore(root),
        session: bus.session,
        target: restoreTarget(command),
        skipConflicts: command.skip_conflicts === true,
      });
      const event = restoredEvent(report, by);
      if (event !== undefined) await bus.publish("WorkspaceRestored", event);
      return report;
    },
  };
}

function restoreTarget(command: RestoreCommand): UndoTarget {
  if ("call_id" in command && command.call_id !== undefined) return { call: command.call_id };
  return "turn" in command && command.turn !== undefined ? { turn: command.turn } : "last";
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

async function openStore({ store, clock, signer, heads }: HarnessOptions): Promise<SessionStore> {
  const proving = { ...defined({ signer, heads }) };
  switch (store.kind) {
    case "memory":
      return createMemoryStore(signer && { signer, clock });
    case "jsonl":
      return (await loadPortability()).openJsonlStore({ root: store.root, clock, ...proving });
    case "sqlite":
      return openSqliteStore({ path: store.path, clock, key: store.key(), ...proving });
  }
}
