/** The composition root: the one file that knows every part and how they are put together. */
import { join, resolve } from "node:path";
import type { PermissionRule, Settings } from "#artifacts";
import {
  type Clock,
  createProcesses,
  createPublicWeb,
  createSystemRandom,
  createUlidFactory,
  createWorkspaceFiles,
  EffectError,
  type EffectPorts,
  type FilePort,
} from "#base";
import { createHistory, createIdentity } from "#context";
import { type Control, createControl, type LiveSession } from "#control";
import {
  type Approver,
  type CustomHandler,
  createRunTool,
  createSession,
  type EventBus,
  type Plugin,
  type Provider,
  type RequestMiddleware,
  type SessionStore,
  type Subscriber,
  type Tool,
  type ToolCall,
  type ToolMiddleware,
  type ToolSource,
} from "#engine";
import {
  createGate,
  createLedger,
  createOutputLimit,
  createPermission,
  createTimeLimit,
  createValidation,
  type Permission,
  parseRule,
} from "#governance";
import { type CommandOf, createIdMint, type Event, ReasonError, type SessionId } from "#protocol";
import { chooseModel, type ModelChoice } from "#providers";
import { createMemoryStore, loadPortability, type MachineKey, openSqliteStore, type Signer } from "#sessions";
import { createBuiltinTools, createMemoization } from "#tools";
import type { UndoStoreOptions } from "#undo";

const READ_PAGE = 1000;

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
    | { readonly kind: "sqlite"; readonly path: string; readonly key: () => MachineKey }
    | { readonly kind: "jsonl"; readonly root: string };
  /** Signs the log at the end of each turn; without it the log is chained, not signed. */
  readonly signer?: Signer;
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

/** What plugins have registered. */
interface Extensions {
  readonly requestChain: RequestMiddleware[];
  readonly toolChain: ToolMiddleware[];
  readonly subscribers: Subscriber[];
  readonly toolSources: ToolSource[];
  readonly providers: Provider[];
  readonly rules: PermissionRule[];
  readonly customHandlers: Map<string, CustomHandler>;
  store: SessionStore | undefined;
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
  const undoRecorder = prepareUndo(options);

  async function open(command: CommandOf<"CreateSession">, approver: Approver): Promise<LiveSession> {
    const { resume } = command;
    const previous = resume === undefined ? undefined : await store.get(resume);
    if (resume !== undefined && previous === undefined) throw new ReasonError("SessionNotFound", { session: resume });
    const workspace = command.working_dir ?? previous?.workingDir ?? options.workspace;
    const ports = effectPorts(workspace, env);
    const asked = command.model ?? (options.model === undefined ? previous?.model : undefined);
    const model = asked === undefined ? models.model : await models.resolve(asked);
    const id = previous?.id ?? ids.session();
    const profile = command.profile ?? "default";
    if (previous === undefined) {
      await store.create({ id, workingDir: workspace, profile, model, createdAt: new Date(clock.now()).toISOString() });
    } else {
      await store.update(id, { state: "active", model });
    }
    const log = await store.acquire(id);
    const plan = { active: false };
    const engine = createSession({
      id,
      clock,
      ids,
      store,
      log,
      provider: models.provider,
      model,
      requestChain: [
        ...extensions.requestChain,
        createIdentity({
          workspace,
          platform: process.platform,
          ...(settings.systemPrompt === undefined ? {} : { prompt: settings.systemPrompt }),
        }),
        createHistory(),
      ],
      toolChain: (bus) => {
        const permission = createPermission({
          bus,
          approver,
          rules,
          root: ports.files.root,
          files: ports.files,
          strict: settings.strictPermissions,
          autoApprove: options.autoApprove,
          planMode: () => plan.active,
        });
        return toolChain({ bus, approver, permission, ports, clock, extra: extensions.toolChain, undoRecorder });
      },
      toolSources,
      toolSettings: settings.tools,
      maxSteps: settings.maxSteps,
      history: previous === undefined ? [] : await readEvents(store, id),
      openCalls: previous === undefined ? [] : await log.openCalls(),
      subscribers: extensions.subscribers,
    });
    const started = { working_dir: workspace, profile, model };
    return {
      ...liveSession(engine, models, plan),
      async begin() {
        await engine.bus.publish("SessionStarted", started);
        await engine.recovery.begin();
      },
      release: () => log.release(),
    };
  }

  const control: Control = createControl({
    clock,
    ids,
    store,
    open,
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

function liveSession(
  engine: LiveSession["engine"],
  models: ModelChoice,
  plan: { active: boolean },
): Omit<LiveSession, "begin" | "release"> {
  return {
    engine,
    async setPlanMode(active) {
      if (plan.active === active) return;
      plan.active = active;
      await engine.bus.publish("PlanModeChanged", { active });
    },
    async setModel(text) {
      await engine.setModel(await models.resolve(text));
    },
  };
}

interface ToolChainParts {
  readonly bus: EventBus;
  readonly approver: Approver;
  readonly permission: Permission;
  readonly ports: EffectPorts;
  readonly clock: Clock;
  readonly extra: readonly ToolMiddleware[];
  readonly undoRecorder: ((files: FilePort) => ToolMiddleware) | undefined;
}

/** Outermost first. Nothing reaches a tool but through all of these, and only the gate hands out ports. */
function toolChain({ bus, approver, permission, ports, clock, extra, undoRecorder }: ToolChainParts) {
  return {
    chain: [
      createOutputLimit(),
      ...extra,
      createValidation(),
      permission.middleware,
      createMemoization(),
      createLedger(bus),
      ...(undoRecorder === undefined ? [] : [undoRecorder(ports.files)]),
      createTimeLimit(clock),
      createGate(ports),
    ],
    last: createRunTool({
      async ask(call: ToolCall, question, options) {
        const { turn, id: callId, signal } = call;
        if (!approver.canAnswer(turn)) return undefined;
        const choices = options.length === 0 ? {} : { options: [...options] };
        await bus.publish("QuestionAsked", { turn, call_id: callId, question, ...choices });
        return approver.answer({ turn, callId }, signal);
      },
    }),
  };
}

function effectPorts(workspace: string, env: HarnessOptions["env"]): EffectPorts {
  try {
    const files = createWorkspaceFiles(workspace);
    return { files, processes: createProcesses({ root: files.root, env }), web: createPublicWeb() };
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    const detail = `the workspace ${workspace} cannot be used: ${error.message}`;
    throw new ReasonError("ConfigInvalid", { detail }, { cause: error });
  }
}

/** One store for all sessions and a recorder for each, loaded with the first call that changes something. */
function prepareUndo({ undo = "off", store, clock }: HarnessOptions): ToolChainParts["undoRecorder"] {
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

async function openStore({ store, clock, signer }: HarnessOptions): Promise<SessionStore> {
  const signing = signer === undefined ? {} : { signer };
  switch (store.kind) {
    case "memory":
      return createMemoryStore(signer && { signer, clock });
    case "jsonl":
      return (await loadPortability()).openJsonlStore({ root: store.root, clock, ...signing });
    case "sqlite":
      return openSqliteStore({ path: store.path, clock, key: store.key(), ...signing });
  }
}

async function readEvents(store: SessionStore, id: SessionId): Promise<Event[]> {
  const events: Event[] = [];
  const start = (await store.historyStart?.(id)) ?? 0;
  for (;;) {
    const page = await store.read(id, { after: events.at(-1)?.id ?? start, limit: READ_PAGE });
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function registerPlugins(plugins: readonly Plugin[], control: () => Control): Extensions {
  const extensions: Extensions = {
    requestChain: [],
    toolChain: [],
    subscribers: [],
    toolSources: [],
    providers: [],
    rules: [],
    customHandlers: new Map(),
    store: undefined,
  };
  for (const plugin of plugins) {
    const conflict = (what: string): never => {
      throw new ReasonError("ConfigInvalid", { detail: `plugin ${plugin.name}: ${what}` });
    };
    plugin.register({
      useRequest: (middleware) => void extensions.requestChain.push(middleware),
      useTool: (middleware) => void extensions.toolChain.push(middleware),
      onEvent: (subscriber) => void extensions.subscribers.push(subscriber),
      addToolSource: (source) => void extensions.toolSources.push(source),
      addProvider(provider) {
        if (extensions.providers.some(({ name }) => name === provider.name)) {
          conflict(`the provider '${provider.name}' is registered already`);
        }
        extensions.providers.push(provider);
      },
      setStore(store) {
        if (extensions.store !== undefined) conflict("another plugin has replaced the session store");
        extensions.store = store;
      },
      addRule: (effect, rule) => void extensions.rules.push({ effect, rule, source: `plugin ${plugin.name}` }),
      claimNamespace(namespace, handler) {
        if (extensions.customHandlers.has(namespace)) conflict(`the namespace '${namespace}' is taken`);
        extensions.customHandlers.set(namespace, handler);
      },
      async emit(session, namespace, kind, payload) {
        const open = control().session(session);
        if (open === undefined) throw new ReasonError("SessionNotFound", { session });
        await open.bus.publish("CustomEvent", { namespace, kind, payload });
      },
    });
  }
  return extensions;
}
