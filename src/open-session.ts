/** Puts one session together: its ports, its chains, its engine. Plain calls, top to bottom. */
import { hostname } from "node:os";
import { isAbsolute } from "node:path";
import {
  type LabelRule,
  loadFieldParser,
  type Project,
  type ProjectLoader,
  type Settings,
  tighterBudgets,
} from "#artifacts";
import {
  type Clock,
  canonicalHash,
  createProgramFacts,
  createSystemRandom,
  type EffectPorts,
  type ProcessPort,
} from "#base";
import { createHistory, createIdentity, createUntrusted, promptBlocks, STANDING_PROMPT } from "#context";
import type { Control, LiveSession } from "#control";
import { createDelegationTree, createToolRetries, endInterrupted } from "#delegation";
import {
  type Approver,
  type CallTrace,
  type CheckToken,
  createRunContext,
  createSession,
  type EngineSession,
  type Provider,
  type Redaction,
  refuseDelegate,
  reopenSession,
  type SessionStore,
  sumOf,
  type Tool,
  type ToolSource,
  traceProvider,
} from "#engine";
import {
  createBudgets,
  createCompletionHooks,
  createLabelling,
  createPermission,
  createSessionLabels,
  createToolRates,
  newTreeUse,
  type Permission,
  type Rule,
} from "#governance";
import { type CommandOf, type EventPayload, type IdMint, ReasonError, type SessionId, type TurnId } from "#protocol";
import type { ModelChoice } from "#providers";
import type { Undo } from "./harness.ts";
import type { AskForAck } from "./live-project.ts";
import type { Extensions } from "./plugins.ts";
import type { Machine, ProjectRuntime, ProjectRuntimeOptions } from "./project-runtime.ts";
import { liveSession, ruleCommands } from "./session-commands.ts";
import { createSessionDomains } from "./session-domains.ts";
import {
  type Birth,
  createDelegating,
  type Delegating,
  type DelegatingParts,
  delegatePrompt,
  hiddenFrom,
  isDelegating,
  policiesOf,
  type SessionPlace,
  sharedUndo,
} from "./session-place.ts";
import { effectPorts } from "./session-ports.ts";
import type { SandboxPlace, SessionSandbox } from "./session-sandbox.ts";
import { askingOf, toolChain } from "./session-tool-chain.ts";
import type { TapedWorld } from "./taped-world.ts";

export interface SessionDependencies {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly store: SessionStore;
  readonly models: ModelChoice;
  /** The choice of models that other settings make. Throws as a wrong model does. */
  readonly modelsFor: (settings: Settings) => Promise<ModelChoice>;
  readonly extensions: Extensions;
  readonly toolSources: readonly ToolSource[];
  /** Of the user's configuration and of plugins. */
  readonly rules: readonly Rule[];
  readonly rulesVersion: string;
  readonly undo: Undo | undefined;
  /** For a session that names no other. */
  readonly workspace: string;
  /** The model that was named for this run, if one was: it beats that of a session that is opened again. */
  readonly namedModel: string | undefined;
  readonly autoApprove: boolean;
  readonly context: CommandOf<"SetContext">["values"];
  readonly keepRule: ((rule: string) => Promise<string>) | undefined;
  readonly projects: OpenProject | undefined;
  readonly args: readonly string[];
  /** 0 for root agents; hooks are told, and hold the same at every depth. */
  readonly depth: number;
  /** Files of the program itself, but for the log that is kept in a workspace. */
  readonly ownPaths: readonly string[];
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
  readonly observePorts: ((ports: EffectPorts) => EffectPorts) | undefined;
  readonly traceCall: ((session: SessionId) => CallTrace | undefined) | undefined;
  readonly redaction: Promise<Redaction>;
  readonly checkToken: CheckToken | undefined;
  /** Resolves when the redaction knows every key that was found so far. */
  readonly secretsTold: () => Promise<void>;
  /** Absent unless the program is recorded or replayed. */
  readonly taped: TapedWorld | undefined;
  /** Makes the session of a delegate known to clients. */
  readonly adopt: Control["adopt"];
}

/** Finds the project of a workspace; undefined where there is none. Throws ConfigInvalid, with every problem, for a broken one. */
export type OpenProject = (workspace: string) => Promise<OpenedProject | undefined>;

export interface OpenedProject {
  readonly loader: ProjectLoader;
  readonly project: Project;
  readonly askForAck?: AskForAck;
  /** With what this project says; absent where those of the program have it already. */
  readonly settings?: Settings;
}

/** For a session, and for the delegates below it, in a folder whose project is not the one that the program was opened with. */
async function withSettings(
  program: SessionDependencies,
  settings: Settings | undefined,
): Promise<SessionDependencies> {
  if (settings === undefined) return program;
  return { ...program, settings, models: await program.modelsFor(settings) };
}

export async function openSession(
  program: SessionDependencies,
  command: CommandOf<"CreateSession">,
  approver: Approver,
  birth?: Birth,
): Promise<LiveSession> {
  const { env, clock, ids, store, extensions, rules, rulesVersion, taped } = program;
  const depth = birth?.spec.depth ?? program.depth;
  const redaction = await program.redaction;
  const { resume } = command;
  const previous = resume === undefined ? undefined : await store.get(resume);
  if (resume !== undefined && previous === undefined) throw new ReasonError("SessionNotFound", { session: resume });
  if (command.working_dir !== undefined && !isAbsolute(command.working_dir)) {
    throw new ReasonError("InvalidCommand", { detail: "working_dir is an absolute path" });
  }
  if (previous !== undefined) await refuseDelegate(store, previous);
  const workspace = command.working_dir ?? previous?.workingDir ?? program.workspace;
  // A replay may have it in another place than the recording, by whose name the session knows it.
  const folder = taped?.here(workspace) ?? workspace;
  const opened = birth === undefined ? await program.projects?.(folder) : undefined;
  const dependencies = await withSettings(program, opened?.settings);
  const { settings, models } = dependencies;
  const id = previous?.id ?? ids.session();
  const tapedSession = taped?.session(id);
  const machine = tapedSession?.machine ?? thisMachine();
  let runtime: ProjectRuntime | undefined = birth?.place.runtime;
  const domains = createSessionDomains(settings, () => runtime?.live.current() ?? opened?.project);
  domains(); // a wrong entry is told before anything begins
  const sandboxed = (root: string, outside: ProcessPort): SessionSandbox =>
    dependencies.sandboxFor({ root, outside, domains, mode: settings.sandbox });
  const made = effectPorts({
    workspace: folder,
    env,
    domains,
    ownPaths: dependencies.ownPaths,
    sandboxed,
    running: birth?.place.processes,
  });
  const { outside: processes } = made;
  const sandbox = tapedSession?.sandbox(made.sandbox) ?? made.sandbox;
  const observed = dependencies.observePorts?.(made.ports) ?? made.ports;
  const ports = tapedSession?.ports(observed, domains) ?? observed;
  await sandbox.ensure();
  const asked = command.model ?? (dependencies.namedModel === undefined ? previous?.model : undefined);
  const model = asked === undefined ? models.model : await models.resolve(asked);
  const profile = command.profile ?? "default";
  if (previous === undefined) {
    const createdAt = new Date(clock.now()).toISOString();
    const born = birth === undefined ? {} : { parent: birth.parent };
    await store.create({ id, workingDir: workspace, profile, model, createdAt, ...born });
  } else {
    await store.update(id, { state: "active", model });
  }
  const log = await store.acquire(id);
  const earlier = previous === undefined ? undefined : await reopenSession(store, log, id);
  const context = birth?.place.context ?? createRunContext({ ...dependencies.context, ...command.context });
  const plan = birth?.place.plan ?? { active: false };
  const standing = settings.systemPrompt ?? STANDING_PROMPT;
  const otherTools = (): readonly Tool[] => dependencies.toolSources.flatMap((source) => source.tools());
  if (opened !== undefined) {
    const { args } = dependencies;
    const shared = { session: id, context, ports, env, args, machine, clock, ids, standing, otherTools };
    runtime = await createRuntime({ ...opened, ...shared });
  }
  const asking = askingOf(birth);
  const project = (): Project | undefined => runtime?.live.current();
  const allRules = (): readonly Rule[] => (runtime === undefined ? rules : [...rules, ...runtime.live.rules()]);
  const policyVersion = (): string =>
    runtime === undefined ? rulesVersion : canonicalHash([rulesVersion, runtime.live.version()]);
  const plain = promptBlocks({ files: [], standing, workspace, platform: machine.platform });
  const programFacts = createProgramFacts({ root: ports.files.root, env });
  const programs = tapedSession?.programs(programFacts) ?? programFacts;
  const own = birth && runtime?.forDelegate(id, ports, [...birth.spec.hooks, ...birth.inheritedHooks]);
  const hooks = own?.hooks ?? runtime?.hooks;
  const hidden = runtime && hiddenFrom(runtime, policiesOf(birth));
  const place: SessionPlace = birth?.place ?? {
    ...{
      workspace,
      profile,
      runtime,
      context,
      plan,
      processes,
      budget: newTreeUse(earlier && sumOf(earlier.remains.spent, earlier.remains.delegated)),
      tree: createDelegationTree(),
    },
    sessionRules: [],
    labels: createSessionLabels(earlier?.remains.labels),
    rates: createToolRates(settings.rateLimits.tools, clock),
    undo: dependencies.undo?.recorder(ports.files),
    allTools: () => [...otherTools(), ...(runtime?.sources ?? []).flatMap((source) => source.tools())],
    root: () => engine.running && { session: id, turn: engine.running.turn },
  };
  const budgets = createBudgets({
    clock,
    limits: () => tighterBudgets(settings.budgets, project()?.config.budgets ?? {}),
    tree: place.budget,
    onTreeUsedUp: () => place.tree.stopAll({ reason: "budget" }),
    ...(earlier === undefined ? {} : { spent: earlier.remains.spent }),
  });
  const { labels } = place;
  const labelRules = (): readonly LabelRule[] => [...settings.labelRules, ...(project()?.config.labelRules ?? [])];
  let permission: Permission | undefined;
  let delegating: Delegating | undefined;
  const engine: EngineSession = createSession({
    id,
    clock,
    ids,
    store,
    log,
    ...(taped === undefined ? {} : { schedule: taped.tape.schedule }),
    provider: traced(tapedSession?.provider(models.provider) ?? models.provider, id, dependencies.traceCall),
    redaction,
    model,
    requestChain: [
      budgets.request,
      ...extensions.requestChain,
      createIdentity(
        () => (birth && (delegatePrompt(birth.spec, project()) ?? plain)) ?? runtime?.live.prompt() ?? plain,
      ),
      createHistory({ maxTurns: () => (birth?.spec.context ?? project()?.config.context)?.maxHistory }),
      createUntrusted(),
      ...(hooks === undefined ? [] : [createCompletionHooks({ hooks, depth })]),
    ],
    toolChain: (bus, nested, guarded) => {
      permission = createPermission({
        bus,
        approver,
        rules: allRules,
        root: ports.files.root,
        files: ports.files,
        strict: () => settings.strictPermissions || project()?.config.strictPermissions === true,
        autoApprove: dependencies.autoApprove,
        planMode: () => plan.active,
        labels,
        isOffline: () => settings.sandbox !== "off" && domains()?.entries.length === 0,
        binding: { programs, policyVersion },
        newApproval: () => ids.approval(),
        now: () => clock.now(),
        sessionRules: place.sessionRules,
        ...asking,
      });
      budgets.attach(bus);
      sandbox.recordTo(bus);
      runtime?.attach(bus, nested);
      if (runtime !== undefined && hidden !== undefined) {
        const openChild: DelegatingParts["openChild"] = (child, named, asked) =>
          openSession(
            dependencies,
            { kind: "CreateSession", profile, working_dir: workspace, model: named },
            asked,
            child,
          );
        const adopt: DelegatingParts["adopt"] = (open) => dependencies.adopt(id, open);
        const parts = { clock, bus, depth, place, runtime, ports, birth, hidden, adopt, openChild };
        delegating = createDelegating({ ...parts, engine: () => engine });
      }
      const retries = birth === undefined ? [] : [createToolRetries()];
      const extra = [budgets.tool, place.rates, ...retries, ...extensions.toolChain];
      const undo = place.undo && sharedUndo(place.undo, place.root, birth?.spec.callId);
      const isShared = (): boolean => place.tree.count > depth - dependencies.depth;
      const labelling = createLabelling({ labels, rules: labelRules, root: ports.files.root });
      const parts = { bus, approver, permission, ports, clock, extra, hooks, undo, nested, policyVersion };
      return toolChain({ ...parts, isShared, asking, redaction: guarded, labels, labelling });
    },
    toolSources:
      birth === undefined
        ? [...dependencies.toolSources, ...(runtime?.sources ?? []), { name: "delegation", tools: delegationTools }]
        : [{ name: "delegate", tools: () => birth.spec.tools(delegating?.tools() ?? []) }],
    ...(hooks === undefined ? {} : { hooks }),
    ...(hidden === undefined ? {} : { hidden }),
    ...(runtime === undefined ? {} : { beforeStep: own?.refresh ?? runtime.refresh }),
    ...(birth === undefined ? {} : { checkStop: birth.spec.checkStop }),
    settle: async () => delegating?.delegations.settle(),
    ...(runtime === undefined && Object.keys(settings.budgets).length === 0 ? {} : { beforeEnd: tellTotals }),
    // No input and no answer is written before every key that is in use can be recognised.
    beforeTurn: dependencies.secretsTold,
    toolSettings: settings.tools,
    ...(dependencies.checkToken === undefined ? {} : { checkToken: dependencies.checkToken }),
    maxSteps: birth?.spec.maxSteps ?? settings.maxSteps,
    depth,
    ...(earlier === undefined ? {} : { earlier }),
    subscribers: [budgets.onEvent, labels.onEvent, ...extensions.subscribers],
  });
  if (permission === undefined) throw new Error("the session has no tool chain");
  const { root } = ports.files;
  const started = { working_dir: workspace, ...(root === workspace ? {} : { root }), profile, model, ...bornAs(birth) };
  return {
    ...liveSession({ engine, models, plan, context }),
    ...ruleCommands(engine.bus, permission, allRules, dependencies.keepRule),
    async begin() {
      await engine.bus.publish("SessionStarted", started);
      // A delegate is part of the session at its root, which has been through this.
      if (birth !== undefined) return;
      await runtime?.refresh(new AbortController().signal);
      await tellHooks("session.start");
      if (Object.keys(context.values()).length > 0) await context.set(engine.bus, {});
      if (earlier !== undefined) await endInterrupted(earlier.remains.openDelegations, engine.bus, store);
      await engine.begin();
    },
    async finish() {
      if (birth !== undefined) return;
      await tellHooks("session.end");
      await runtime?.close();
    },
    async restore(command, by) {
      const { undo } = dependencies;
      if (undo === undefined) {
        throw new ReasonError("NotAllowed", { detail: "Undo is switched off here: nothing is kept." });
      }
      return undo.restore(engine.bus, ports.files.root, command, by);
    },
    async release() {
      await engine.settled();
      budgets.close();
      own?.detach();
      await sandbox.close();
      await log.release();
    },
  };

  function delegationTools(): readonly Tool[] {
    return delegating !== undefined && runtime !== undefined && isDelegating(runtime) ? delegating.tools() : [];
  }

  function tellTotals(turn: TurnId): void {
    // What the whole tree has counted is told by its root.
    if (birth === undefined) runtime?.tellMetrics(turn);
    budgets.tellLeft(turn);
  }

  /** Informs: what hooks answer to these changes nothing. */
  async function tellHooks(event: "session.start" | "session.end"): Promise<void> {
    if (runtime === undefined || runtime.hooks.idle(event)) return;
    await runtime.hooks.dispatch(event, null, { session: id, depth, nesting: 0, signal: new AbortController().signal });
  }
}

function traced(provider: Provider, id: SessionId, traceCall: SessionDependencies["traceCall"]): Provider {
  return traceCall === undefined ? provider : traceProvider(provider, () => traceCall(id));
}

function thisMachine(): Machine {
  return {
    platform: process.platform,
    hostname: hostname(),
    random: createSystemRandom(),
    variable: (_name, read) => read(),
    secret: (_name, read) => read(),
  };
}

function bornAs(
  birth: Birth | undefined,
): Pick<EventPayload<"SessionStarted">, "parent" | "call_id" | "agent" | "depth"> {
  if (birth === undefined) return {};
  const { spec, parent } = birth;
  return { parent, call_id: spec.callId, agent: spec.agent, depth: spec.depth };
}

/** Loaded with the first session that has a project: a folder without one pays nothing for it. */
async function createRuntime(options: Omit<ProjectRuntimeOptions, "parseFields">): Promise<ProjectRuntime> {
  const [{ createProjectRuntime }, parseFields] = await Promise.all([
    import("./project-runtime.ts"),
    loadFieldParser(),
  ]);
  return createProjectRuntime({ ...options, parseFields });
}
