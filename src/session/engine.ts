/** The engine of one session, put together around its core: its chains, its budgets, and how it delegates. */
import { rootTools, skillsOf, tighterBudgets } from "#artifacts";
import { defined } from "#base";
import { type BasePrompt, lastTurns, type PromptBlock } from "#context";
import {
  type Approver,
  createModelQuestions,
  createSession,
  type EngineSession,
  type EventBus,
  type HiddenTools,
  type HookDispatcher,
  type JoinTurn,
  type Lasting,
  type Provider,
  type Reopened,
  type SessionCore,
  type SessionParts,
  type Tool,
  ToolError,
  type ToolSource,
  traceProvider,
} from "#engine";
import {
  type Budgets,
  createBudgets,
  createHookDispatcher,
  createSkillLimits,
  type LookUp,
  type Permission,
  type Rule,
  type SkillLimits,
} from "#governance";
import type { SessionId, TurnId } from "#protocol";
import { type BackgroundJobs, createBackgroundJobs, createJobTools } from "#tools";
import { type Acks, createAcks } from "./acks.ts";
import { type Agreements, createAgreements } from "./agreements.ts";
import { lookups, requestChain, toolChain } from "./chains.ts";
import { contextConfig, rereadSource, sessionCompactor } from "./compaction.ts";
import { createDelegating, type Delegating, type DelegatingParts } from "./delegates.ts";
import type { SessionDependencies } from "./dependencies.ts";
import { permissionOf, rulesOf } from "./policy.ts";
import { createProfileNotice } from "./profile-notice.ts";
import type { AskNow, ProjectRuntime } from "./project.ts";
import { askingOf, askPerson } from "./questions.ts";
import type { SessionServers } from "./servers.ts";
import { createSessionSources, type SessionSourcesOptions } from "./sources.ts";
import { type AgentTree, type Birth, hiddenFrom, policiesOf } from "./tree.ts";
import { createUnknownKeysNotice } from "./unknown-keys-notice.ts";
import type { SessionWorld } from "./world.ts";

export interface SessionEngineParts {
  readonly core: SessionCore;
  readonly depth: number;
  readonly dependencies: SessionDependencies;
  readonly approver: Approver;
  readonly birth: Birth | undefined;
  readonly world: SessionWorld;
  readonly place: AgentTree;
  /** Where an earlier run left the session. */
  readonly earlier: Reopened | undefined;
  /** The prompt where no project has another. */
  readonly standing: BasePrompt;
  readonly openChild: DelegatingParts["openChild"];
}

export interface SessionEngine {
  readonly engine: EngineSession;
  readonly permission: Permission;
  /** Those of the project and of plugins; absent where there are none. */
  readonly hooks: HookDispatcher | undefined;
  readonly agreements: Agreements;
  /** Absent for a delegate: nothing of it outlives its turn. */
  readonly jobs: BackgroundJobs | undefined;
  /** For people who type. */
  readonly lookUp: LookUp;
  readonly describeAck: Acks["describe"];
  /** Those in force, but for what answers have added. */
  rules(): readonly Rule[];
  /** When the last event is stored. */
  close(): Promise<void>;
}

export function createSessionEngine(parts: SessionEngineParts): SessionEngine {
  const { core, depth, dependencies, birth, world, place, earlier } = parts;
  const { id, bus } = core;
  const { settings, ids, store, extensions } = dependencies;
  const { runtime, labels } = place;
  const own = birth && runtime?.forDelegate(id, world.ports, [...birth.spec.hooks, ...birth.inheritedHooks]);
  const hooks = own?.hooks ?? runtime?.hooks ?? pluginHooks(parts);
  const hidden = runtime && hiddenFrom(runtime, policiesOf(birth));
  const budgets = budgetsOf(parts);
  const permission = permissionOf(parts);
  const joining = joiningOf(parts);
  const limits = skillLimitsOf(parts);
  for (const recorded of [world.sandbox, world.servers]) recorded.recordTo(bus);
  const delegating = delegatingOf(parts, hidden, limits);
  const { ask, acks } = questionsOf(parts);
  const work = sessionWork(parts, () => engine.lasting);
  const { askModel, ...model } = modelOf(parts, budgets);
  const compactor = sessionCompactor(parts, hooks);
  const chained = { permission, budgets, hooks, limits, askModel, jobs: work.jobs, joined: joining.blocks, compactor };
  const engine: EngineSession = createSession(core, {
    ...{ ids, store, ...model },
    requestChain: requestChain(parts, chained),
    previewChain: () => requestChain(parts, { ...chained, hooks: undefined }),
    compaction: { compactor, chain: [budgets.request] },
    toolChain: toolChain(parts, chained),
    ask,
    background: work.jobs?.start,
    toolSources: [...toolSources(parts, delegating, work.tools), rereadSource(parts, () => engine.isCompacted)],
    isServer: (name) => settings.mcpServers.some((server) => server.name === name),
    beforeTurn: readiness(bus, dependencies, parts),
    settle: async () => delegating?.delegations.settle(),
    toolSettings: settings.tools,
    maxSteps: birth?.spec.maxSteps ?? settings.maxSteps,
    depth,
    subscribers: [budgets.onEvent, labels.onEvent, limits.onEvent, compactor.onEvent, ...extensions.subscribers],
    ...defined({
      hooks,
      hidden,
      joinTurn: joining.join,
      ...stepBeginning(parts, own ?? runtime),
      checkStop: birth?.spec.checkStop,
      beforeEnd: runtime === undefined && Object.keys(settings.budgets).length === 0 ? undefined : publishTotals,
      checkToken: dependencies.checkToken,
      earlier,
    }),
  });
  runtime?.attach(bus, engine.nested, askingInSteps(parts, acks));
  return {
    engine,
    permission,
    hooks,
    ...work,
    lookUp: lookups(parts, chained),
    describeAck: acks.describe,
    rules: () => rulesOf(parts),
    async close() {
      budgets.close();
      own?.detach();
      await delegating?.close();
    },
  };

  function publishTotals(turn: TurnId): void {
    // The root publishes what the whole tree has counted.
    if (birth === undefined) runtime?.endTurn(turn);
    budgets.tellLeft(turn);
  }
}

function delegatingOf(
  parts: SessionEngineParts,
  hidden: HiddenTools | undefined,
  { inForce: limitsInForce }: SkillLimits,
): Delegating | undefined {
  const { runtime } = parts.place;
  if (runtime === undefined || hidden === undefined) return undefined;
  const { core, dependencies } = parts;
  return createDelegating({
    ...parts,
    runtime,
    hidden,
    limitsInForce,
    openWorktree: worktreeOpener(parts),
    adopt: (open) => dependencies.adopt(core.id, open),
  });
}

function skillLimitsOf({ core, world, place: { runtime }, birth }: SessionEngineParts): SkillLimits {
  return createSkillLimits({
    bus: core.bus,
    root: world.ports.files.root,
    skills: () => (runtime === undefined ? [] : skillsOf(runtime.live.current())),
    inherited: birth?.inheritedLimits ?? [],
  });
}

function budgetsOf({ core, dependencies, place, earlier }: SessionEngineParts): Budgets {
  const { bus, clock } = core;
  const { runtime, tree, budget } = place;
  return createBudgets({
    bus,
    clock,
    limits: () => tighterBudgets(dependencies.settings.budgets, runtime?.live.current().config.budgets ?? {}),
    tree: budget,
    onTreeUsedUp: () => tree.stopAll({ reason: "budget" }),
    ...defined({ spent: earlier?.remains.spent }),
  });
}

/** The model of the session: for its turns, and for what tools ask it beside them. */
function modelOf({ core, dependencies, world }: SessionEngineParts, { request: budgets }: Budgets) {
  const { id, bus, redaction, state } = core;
  const { models, traceCall } = dependencies;
  const provider = beforeServers(traced(world.tape.provider(models.provider), id, traceCall), world.servers);
  const model = (): string => state.turnModel ?? state.model;
  const { ask, takeUsed } = createModelQuestions({ bus, redaction, provider, budgets, model });
  return { provider, takeUsed, askModel: ask };
}

/** What its world does is recorded. What joins the turns of a root: stable blocks first, then what fits the input. */
function joiningOf(parts: SessionEngineParts): {
  readonly join?: JoinTurn;
  readonly blocks: () => readonly PromptBlock[];
} {
  const {
    core: { bus },
    birth,
    world,
    place: { memory, runtime },
  } = parts;
  world.sandbox.recordTo(bus);
  world.servers.recordTo(bus);
  if (birth !== undefined) return { blocks: () => [] };
  memory.recordTo(bus);
  const visible: SessionSourcesOptions["visible"] = (history) => lastTurns(history, contextConfig(parts).maxHistory);
  const sources = runtime && createSessionSources({ bus, sources: runtime.live.sources, visible });
  return {
    async join(turn) {
      await sources?.join(turn);
      await memory.join(turn);
    },
    blocks: () => [...(sources?.blocks() ?? []), ...memory.blocks()],
  };
}

/** Servers whose tools are known are connected behind the first request: to load what that takes holds up everything else. */
function beforeServers(provider: Provider, { begin }: Pick<SessionServers, "begin">): Provider {
  return {
    ...provider,
    async chat(call) {
      const emit: typeof call.emit = (event) => {
        begin();
        call.emit(event);
      };
      try {
        return await provider.chat({ ...call, emit, onSent: begin });
      } finally {
        begin();
      }
    },
  };
}

function questionsOf({ core: { bus }, approver, birth, dependencies: { ids }, earlier }: SessionEngineParts) {
  const asking = askingOf(birth);
  return {
    ask: askPerson({ bus, approver, asking, givenAnswers: earlier?.answers }),
    acks: createAcks({ bus, approver, asking, ids }),
  };
}

/** Before its first step a turn may not be in the log yet. */
function askingInSteps({ core }: SessionEngineParts, acks: Acks): AskNow {
  return (signal) => {
    const { running } = core.state;
    if (running?.steering.step === undefined) return undefined;
    return (asked) => acks.ask({ turn: running.turn, signal }, asked);
  };
}

function worktreeOpener({ dependencies, birth, world }: SessionEngineParts): DelegatingParts["openWorktree"] {
  return async (name) => {
    const { openWorktree, tape } = dependencies;
    const refusal = (why: string) =>
      new ToolError(`isolation: worktree is not possible here: ${why}.`, "KindDelegation");
    if (openWorktree === undefined || tape.isOn)
      throw refusal("the session is recorded, or its program makes no worktrees");
    if (birth?.spec.folder !== undefined) throw refusal("this agent works in a worktree itself");
    return openWorktree(world.ports.files.root, name);
  };
}

/** Where there is no project. */
function pluginHooks(parts: SessionEngineParts): HookDispatcher | undefined {
  const { core, dependencies, world, place } = parts;
  const { bus, clock } = core;
  const { shellHooks } = place;
  const all = dependencies.extensions.hooks.toSorted((a, b) => a.priority - b.priority);
  if (all.length === 0 && shellHooks.isEmpty) return undefined;
  const source = {
    hooks: (event: string) =>
      shellHooks.behind(
        event,
        all.filter((hook) => hook.event === event),
      ),
  };
  const { confinement } = shellHooks;
  return createHookDispatcher({ source, bus, ports: world.ports, monotonicMs: () => clock.monotonicMs(), confinement });
}

/** No input and no answer is written before every key that is in use can be recognised, and the servers have had their time. */
function readiness(
  bus: EventBus,
  { secretsTold, settings, profiles, tape }: SessionDependencies,
  { world: { servers }, place: { memory }, birth }: SessionEngineParts,
): () => Promise<void> {
  const unknownKeys = createUnknownKeysNotice(bus, secretsTold);
  // A delegate has the profile of its root, which tells. In a replay the file can be another one.
  const watched = birth === undefined && !tape.isOn ? profiles : undefined;
  const profileNotice = createProfileNotice(bus, settings.profile, watched);
  return async () => void (await Promise.all([unknownKeys(), profileNotice(), servers.ready(), memory.ready()]));
}

/** The servers belong to the root, and so do the resources that its tree has read. */
function stepBeginning(
  { birth, world: { servers } }: SessionEngineParts,
  project: Pick<ProjectRuntime, "refresh" | "askAcks"> | undefined,
): Pick<SessionParts, "beforeStep" | "askInStep"> {
  return {
    async beforeStep(turn) {
      await project?.refresh(turn);
      if (birth === undefined) await servers.tellUpdates(turn);
    },
    ...defined({ askInStep: project?.askAcks }),
  };
}

/** What the person and the agent agree on, and what goes on beside the turns of a root; with the tools for it. */
function sessionWork({ core, dependencies, birth, place }: SessionEngineParts, lasting: () => Lasting) {
  const { bus, clock, redaction } = core;
  const agreements = createAgreements({ bus, mode: place.mode, lasting });
  if (birth !== undefined) return { agreements, jobs: undefined, tools: (): readonly Tool[] => [] };
  const jobs = createBackgroundJobs({ bus, redaction, clock, ids: dependencies.ids, now: () => runningStep(core) });
  const forJobs = createJobTools(jobs, clock);
  // Those for background commands come with the first one.
  const tools = (): readonly Tool[] =>
    jobs.list().length === 0 ? agreements.tools : [...agreements.tools, ...forJobs];
  return { agreements, jobs, tools };
}

function runningStep({ state }: SessionCore): { readonly turn?: TurnId; readonly step?: number } {
  return defined({ turn: state.running?.turn, step: state.running?.steering.step });
}

/** A root has all there are; a delegate has those that were named for it. */
function toolSources(
  { dependencies, birth, world, place: { runtime } }: SessionEngineParts,
  delegating: Delegating | undefined,
  ofSession: () => readonly Tool[],
): readonly ToolSource[] {
  const delegation = (): readonly Tool[] => delegating?.tools() ?? [];
  if (birth !== undefined) {
    return [{ name: "delegate", tools: () => [...birth.spec.tools(delegation()), ...world.servers.tools()] }];
  }
  const tools = (): readonly Tool[] => {
    const given = [...dependencies.toolSources.flatMap((source) => source.tools()), ...ofSession()];
    const { project, meta } = runtime?.tools() ?? { project: [], meta: [] };
    return rootTools({ given, project, meta, delegation: delegation() }, runtime?.live.current());
  };
  return [{ name: "root", tools }];
}

function traced(provider: Provider, id: SessionId, traceCall: SessionDependencies["traceCall"]): Provider {
  return traceCall === undefined ? provider : traceProvider(provider, () => traceCall(id));
}
