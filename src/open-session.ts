/** Puts one session together: its ports, its chains, its engine. Plain calls, top to bottom. */
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
  createProcesses,
  createProgramFacts,
  createPublicWeb,
  createWorkspaceFiles,
  EffectError,
  type EffectPorts,
  type ProcessPort,
} from "#base";
import { createHistory, createIdentity, createUntrusted, promptBlocks, STANDING_PROMPT } from "#context";
import type { LiveSession } from "#control";
import {
  type Approver,
  createRunContext,
  createRunTool,
  createSession,
  type EventBus,
  type HookDispatcher,
  type NestedCall,
  note,
  type Redaction,
  type RunContext,
  reopenSession,
  type SessionStore,
  type Tool,
  type ToolCall,
  type ToolMiddleware,
  type ToolSource,
} from "#engine";
import {
  createBudgets,
  createCompletionHooks,
  createGate,
  createLabelling,
  createLedger,
  createOutputLimit,
  createPermission,
  createPostHooks,
  createPreHooks,
  createResultRedaction,
  createSessionLabels,
  createTimeLimit,
  createToolRates,
  createValidation,
  type NetworkJudgement,
  newBudgetUse,
  type Permission,
  type Rule,
  type SessionLabels,
} from "#governance";
import { type ClientId, type CommandOf, type IdMint, ReasonError, type TurnId } from "#protocol";
import type { ModelChoice } from "#providers";
import { createMemoization } from "#tools";
import type { Undo } from "./harness.ts";
import type { AskForAck } from "./live-project.ts";
import type { Extensions } from "./plugins.ts";
import type { ProjectRuntime, ProjectRuntimeOptions } from "./project-runtime.ts";
import { createSessionDomains, type SessionDomains } from "./session-domains.ts";
import type { SandboxPlace, SessionSandbox } from "./session-sandbox.ts";

export interface SessionDependencies {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly store: SessionStore;
  readonly models: ModelChoice;
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
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
  readonly observePorts: ((ports: EffectPorts) => EffectPorts) | undefined;
  readonly redaction: Promise<Redaction>;
}

/** Finds the project of a workspace; undefined where there is none. Throws ConfigInvalid, with every problem, for a broken one. */
export type OpenProject = (
  workspace: string,
) => Promise<{ readonly loader: ProjectLoader; readonly project: Project; readonly askForAck?: AskForAck } | undefined>;

export async function openSession(
  dependencies: SessionDependencies,
  command: CommandOf<"CreateSession">,
  approver: Approver,
): Promise<LiveSession> {
  const { settings, env, clock, ids, store, models, extensions, rules, rulesVersion, depth } = dependencies;
  const redaction = await dependencies.redaction;
  const { resume } = command;
  const previous = resume === undefined ? undefined : await store.get(resume);
  if (resume !== undefined && previous === undefined) throw new ReasonError("SessionNotFound", { session: resume });
  const workspace = command.working_dir ?? previous?.workingDir ?? dependencies.workspace;
  const opened = await dependencies.projects?.(workspace);
  let runtime: ProjectRuntime | undefined;
  const domains = createSessionDomains(settings, () => runtime?.live.current() ?? opened?.project);
  domains(); // a wrong entry is told before anything begins
  const made = effectPorts(workspace, env, domains, (root, outside) =>
    dependencies.sandboxFor({ root, outside, domains }),
  );
  const { sandbox } = made;
  const ports = dependencies.observePorts?.(made.ports) ?? made.ports;
  await sandbox.ensure();
  const asked = command.model ?? (dependencies.namedModel === undefined ? previous?.model : undefined);
  const model = asked === undefined ? models.model : await models.resolve(asked);
  const id = previous?.id ?? ids.session();
  const profile = command.profile ?? "default";
  if (previous === undefined) {
    await store.create({ id, workingDir: workspace, profile, model, createdAt: new Date(clock.now()).toISOString() });
  } else {
    await store.update(id, { state: "active", model });
  }
  const log = await store.acquire(id);
  const earlier = previous === undefined ? undefined : await reopenSession(store, log, id);
  const context = createRunContext({ ...dependencies.context, ...command.context });
  const plan = { active: false };
  const standing = settings.systemPrompt ?? STANDING_PROMPT;
  const otherTools = (): readonly Tool[] => dependencies.toolSources.flatMap((source) => source.tools());
  if (opened !== undefined) {
    const { args } = dependencies;
    const all = { ...opened, session: id, context, ports, env, args, clock, ids, standing, otherTools };
    runtime = await createRuntime(all);
  }
  const project = (): Project | undefined => runtime?.live.current();
  const allRules = (): readonly Rule[] => (runtime === undefined ? rules : [...rules, ...runtime.live.rules()]);
  const policyVersion = (): string =>
    runtime === undefined ? rulesVersion : canonicalHash([rulesVersion, runtime.live.version()]);
  const plain = promptBlocks({ files: [], standing, workspace, platform: process.platform });
  const budgets = createBudgets({
    clock,
    limits: () => tighterBudgets(settings.budgets, project()?.config.budgets ?? {}),
    tree: newBudgetUse(),
    ...(earlier === undefined ? {} : { spent: earlier.remains.spent }),
  });
  const labels = createSessionLabels(earlier?.remains.labels);
  const labelRules = (): readonly LabelRule[] => [...settings.labelRules, ...(project()?.config.labelRules ?? [])];
  let permission: Permission | undefined;
  const engine = createSession({
    id,
    clock,
    ids,
    store,
    log,
    provider: models.provider,
    redaction,
    model,
    requestChain: [
      budgets.request,
      ...extensions.requestChain,
      createIdentity(() => runtime?.live.prompt() ?? plain),
      createHistory({ maxTurns: () => project()?.config.context.maxHistory }),
      createUntrusted(),
      ...(runtime === undefined ? [] : [createCompletionHooks({ hooks: runtime.hooks, depth })]),
    ],
    toolChain: (bus, nested) => {
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
        binding: { programs: createProgramFacts({ root: ports.files.root, env }), policyVersion },
        newApproval: () => ids.approval(),
        now: () => clock.now(),
      });
      budgets.attach(bus);
      sandbox.recordTo(bus);
      runtime?.attach(bus, nested);
      const extra = [budgets.tool, createToolRates(settings.rateLimits.tools, clock), ...extensions.toolChain];
      const { undo } = dependencies;
      const hooks = runtime?.hooks;
      const labelling = createLabelling({ labels, rules: labelRules, root: ports.files.root });
      return toolChain({
        labels,
        labelling,
        bus,
        approver,
        permission,
        ports,
        clock,
        extra,
        hooks,
        undo,
        nested,
        policyVersion,
        redaction,
      });
    },
    toolSources: [...dependencies.toolSources, ...(runtime?.sources ?? [])],
    ...(runtime === undefined
      ? {}
      : { hooks: runtime.hooks, hidden: runtime.live.hidden, beforeStep: runtime.refresh }),
    ...(runtime === undefined && Object.keys(settings.budgets).length === 0 ? {} : { beforeEnd: tellTotals }),
    toolSettings: settings.tools,
    maxSteps: settings.maxSteps,
    depth,
    ...(earlier === undefined ? {} : { earlier }),
    subscribers: [budgets.onEvent, labels.onEvent, ...extensions.subscribers],
  });
  if (permission === undefined) throw new Error("the session has no tool chain");
  const { root } = ports.files;
  const started = { working_dir: workspace, ...(root === workspace ? {} : { root }), profile, model };
  return {
    ...liveSession({ engine, models, plan, context }),
    ...ruleCommands(engine.bus, permission, allRules, dependencies.keepRule),
    async begin() {
      await engine.bus.publish("SessionStarted", started);
      await runtime?.refresh(new AbortController().signal);
      await tellHooks("session.start");
      if (Object.keys(context.values()).length > 0) await context.set(engine.bus, {});
      await engine.begin();
    },
    async finish() {
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
      await sandbox.close();
      await log.release();
    },
  };

  function tellTotals(turn: TurnId): void {
    runtime?.tellMetrics(turn);
    budgets.tellLeft(turn);
  }

  /** Informs: what hooks answer to these changes nothing. */
  async function tellHooks(event: "session.start" | "session.end"): Promise<void> {
    if (runtime === undefined || runtime.hooks.idle(event)) return;
    await runtime.hooks.dispatch(event, null, { session: id, depth, nesting: 0, signal: new AbortController().signal });
  }
}

/** Loaded with the first session that has a project: a folder without one pays nothing for it. */
async function createRuntime(options: Omit<ProjectRuntimeOptions, "parseFields">): Promise<ProjectRuntime> {
  const [{ createProjectRuntime }, parseFields] = await Promise.all([
    import("./project-runtime.ts"),
    loadFieldParser(),
  ]);
  return createProjectRuntime({ ...options, parseFields });
}

type RuleCommands = Pick<LiveSession, "rules" | "revokeRule" | "promoteRule">;

function liveSession({
  engine,
  models,
  plan,
  context,
}: {
  readonly engine: LiveSession["engine"];
  readonly models: ModelChoice;
  readonly plan: { active: boolean };
  readonly context: RunContext;
}): Omit<LiveSession, "begin" | "release" | "finish" | "restore" | keyof RuleCommands> {
  return {
    engine,
    setContext: (values) => context.set(engine.bus, values),
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

function ruleCommands(
  bus: EventBus,
  permission: Permission,
  rules: () => readonly Rule[],
  keepRule: SessionDependencies["keepRule"],
): RuleCommands {
  const find = (text: string): string => {
    if (permission.sessionRules.some((rule) => rule.text === text)) return text;
    throw new ReasonError("RuleNotFound", { rule: text });
  };
  return {
    rules: () =>
      [...rules(), ...permission.sessionRules].map(({ effect, text, source }) => ({ effect, rule: text, source })),
    async revokeRule(text, by: ClientId) {
      permission.revoke(find(text));
      await bus.publish("RuleChanged", { rule: text, change: "revoked", by });
    },
    async promoteRule(text, by: ClientId) {
      if (keepRule === undefined) throw new ReasonError("NotAllowed", { detail: "Rules cannot be kept here." });
      const source = await keepRule(find(text));
      await bus.publish("RuleChanged", { rule: text, change: "promoted", by, source });
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
  readonly hooks: HookDispatcher | undefined;
  readonly undo: Undo | undefined;
  readonly nested: NestedCall;
  readonly policyVersion: () => string;
  readonly redaction: Redaction;
  readonly labels: SessionLabels;
  readonly labelling: ToolMiddleware;
}

/** Outermost first. Nothing reaches a tool but through all of these, and only the gate hands out ports. */
function toolChain(parts: ToolChainParts) {
  const { bus, approver, permission, ports, clock, extra, hooks, undo, nested, policyVersion, labels, labelling } =
    parts;
  const redaction = createResultRedaction(parts.redaction);
  const { judgeEffect, isJudgedWhole } = permission;
  const validation = createValidation();
  return {
    chain: [
      createOutputLimit(),
      ...extra,
      validation,
      // What a hook has changed is validated again.
      ...(hooks === undefined ? [] : [createPreHooks(hooks, () => labels.held()), validation]),
      permission.middleware,
      // What a hook has added is redacted again.
      ...(hooks === undefined ? [] : [redaction, createPostHooks(hooks), createOutputLimit()]),
      createMemoization(),
      labelling,
      redaction,
      createLedger({ bus, clock, policyVersion }),
      ...(undo === undefined ? [] : [undo.recorder(ports.files)]),
      createTimeLimit(clock),
      createGate({ ports, clock, policyVersion, judgeEffect, isJudgedWhole, onNetwork: networkRecord(bus) }),
    ],
    last: createRunTool({
      nested,
      async ask(call: ToolCall, question, options) {
        const { turn, id: callId, signal } = call;
        if (!approver.canAnswer(turn)) return undefined;
        const choices = options.length === 0 ? {} : { options: [...options] };
        // Waits before it is told: whoever is told may answer at once.
        const untold = new AbortController();
        const answered = approver.answer({ turn, callId }, AbortSignal.any([signal, untold.signal]));
        try {
          await bus.publish("QuestionAsked", { turn, call_id: callId, question, ...choices });
        } catch (error) {
          untold.abort();
          await answered;
          throw error;
        }
        return answered;
      },
    }),
  };
}

/** Each host that a call wanted to reach, on the record and on the call itself. */
function networkRecord(bus: EventBus): (call: ToolCall, judged: NetworkJudgement) => void {
  return (call, judged) => {
    call.annotate({ "network.policy": judged.policy, "network.host": judged.host });
    note(bus, "NetworkJudged", { turn: call.turn, call_id: call.id, ...judged });
  };
}

function effectPorts(
  workspace: string,
  env: SessionDependencies["env"],
  domains: SessionDomains,
  sandboxed: (root: string, outside: ProcessPort) => SessionSandbox,
): { readonly ports: EffectPorts; readonly sandbox: SessionSandbox } {
  try {
    const files = createWorkspaceFiles(workspace);
    const sandbox = sandboxed(files.root, createProcesses({ root: files.root, env }));
    return { ports: { files, processes: sandbox.processes, web: createPublicWeb({ domains }) }, sandbox };
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    const detail = `the workspace ${workspace} cannot be used: ${error.message}`;
    throw new ReasonError("ConfigInvalid", { detail }, { cause: error });
  }
}
