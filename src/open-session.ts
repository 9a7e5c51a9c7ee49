/** Puts one session together: its ports, its chains, its engine. Plain calls, top to bottom. */
import { hostname } from "node:os";
import { isAbsolute } from "node:path";
import { type LabelRule, loadFieldParser, type Project, tighterBudgets } from "#artifacts";
import { canonicalHash, createProgramFacts, createSystemRandom, type ProcessPort } from "#base";
import { createHistory, createIdentity, createUntrusted, promptBlocks, STANDING_PROMPT } from "#context";
import type { LiveSession } from "#control";
import { createDelegationTree, createToolRetries, endInterrupted } from "#delegation";
import {
  type Approver,
  createRunContext,
  createSession,
  type EngineSession,
  type Provider,
  refuseDelegate,
  reopenSession,
  sumOf,
  type Tool,
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
import { type CommandOf, type EventPayload, ReasonError, type SessionId, type TurnId } from "#protocol";
import type { Machine, ProjectRuntime, ProjectRuntimeOptions } from "./project-runtime.ts";
import { liveSession, ruleCommands } from "./session-commands.ts";
import { type SessionDependencies, withSettings } from "./session-dependencies.ts";
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
import type { SessionSandbox } from "./session-sandbox.ts";
import { askingOf, toolChain } from "./session-tool-chain.ts";

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
    workspace,
    profile,
    runtime,
    context,
    plan,
    processes,
    budget: newTreeUse(earlier && sumOf(earlier.remains.spent, earlier.remains.delegated)),
    tree: createDelegationTree(),
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
