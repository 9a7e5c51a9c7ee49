/** What a project brings to one session: its scripts with what they may reach, its hooks, its tools, and what it registers. */
import { type FieldParser, inHookOrder, type Project, type ProjectLoader } from "#artifacts";
import { type Clock, childEnvironment, type EffectPorts, type Random } from "#base";
import {
  type EventBus,
  type HookDispatcher,
  type HookPoint,
  type NestedCall,
  note,
  type RunContext,
  type Tool,
  type ToolCall,
  type ToolSource,
} from "#engine";
import { createCustomEvents, createHookDispatcher } from "#governance";
import { type IdMint, ReasonError, type SessionId, type TurnId } from "#protocol";
import {
  createMetaRegistry,
  createRunStates,
  createScriptChecker,
  createScripts,
  type MetaRegistry,
  type ScriptServices,
} from "#script";
import { type AskForAck, createLiveProject, type LiveProject } from "./live-project.ts";

/** The variables that `secrets.get` looks into: `secrets.get("DEPLOY")` is HARNESS_SECRET_DEPLOY. */
export const SECRET_PREFIX = "HARNESS_SECRET_";

/** What scripts can learn of the machine they run on. */
export interface Machine {
  readonly platform: string;
  readonly hostname: string;
  readonly random: Random;
  /** A variable of the environment; `read` looks it up. */
  variable(name: string, read: () => string | undefined): string | undefined;
  secret(name: string, read: () => string | undefined): string | undefined;
}

export interface ProjectRuntimeOptions {
  readonly machine: Machine;
  readonly session: SessionId;
  readonly loader: ProjectLoader;
  readonly project: Project;
  readonly context: RunContext;
  readonly ports: EffectPorts;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `os.args()` gives. */
  readonly args: readonly string[];
  readonly clock: Clock;
  readonly ids: Pick<IdMint, "call">;
  readonly standing: string;
  readonly parseFields: FieldParser;
  readonly askForAck?: AskForAck;
  /** All other tools, whose names are taken. */
  readonly otherTools: () => readonly Tool[];
}

export interface ProjectRuntime {
  readonly live: LiveProject;
  readonly hooks: HookDispatcher;
  readonly sources: readonly ToolSource[];
  /** Publishes the counters of scripts when they have changed. */
  tellMetrics(turn: TurnId): void;
  /** Called once, when the session has its bus. */
  attach(bus: EventBus, nested: NestedCall): void;
  /** Before each step. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Asks no more hooks about `custom.*` events; before the session's last event. */
  close(): Promise<void>;
}

export function createProjectRuntime(options: ProjectRuntimeOptions): ProjectRuntime {
  const { session, clock, context, ports, env, ids, parseFields, machine } = options;
  const { platform, hostname } = machine;
  let bus: EventBus | undefined;
  let nested: NestedCall | undefined;
  const attached = <Part>(part: Part | undefined): Part => {
    if (part === undefined) throw new Error("the session is not there yet");
    return part;
  };
  const states = createRunStates();
  const checker = createScriptChecker();
  const environment = childEnvironment(env, ports.files.root);
  const custom = createCustomEvents({ bus: () => attached(bus), hooks: () => hooks, clock });

  const services: ScriptServices = {
    clock,
    random: machine.random,
    host: { args: options.args, hostname, platform: platform === "win32" ? "windows" : platform },
    states,
    env: (name) => machine.variable(name, () => environment[name]),
    secret: (name) => machine.secret(name, () => env[`${SECRET_PREFIX}${name.toUpperCase()}`]),
    log({ turn, callId, source, level, message }) {
      if (bus === undefined) return;
      note(bus, "ScriptLogged", {
        ...(turn === undefined ? {} : { turn }),
        ...(callId === undefined ? {} : { call_id: callId }),
        source,
        level,
        message,
      });
    },
    emit: custom.emit,
    async callTool(name, args, at, callOptions) {
      const result = await attached(nested)(asParent(at, ids), name, args, callOptions);
      return { content: result.content, isError: result.outcome !== "ok" };
    },
    get meta() {
      return live.current().config.meta.enabled ? meta : undefined;
    },
  } as ScriptServices;

  const scripts = createScripts(services);
  const live = createLiveProject({
    loader: options.loader,
    project: options.project,
    scripts,
    context,
    workspace: ports.files.root,
    standing: options.standing,
    platform,
    ...(options.askForAck === undefined ? {} : { askForAck: options.askForAck }),
  });
  const hooks = createHookDispatcher({
    source: {
      hooks(event) {
        const registered = meta.hooks.hooks(event);
        const written = live.hooks.hooks(event);
        // Of equal priority the registered ones are first: what they change, those of files still see.
        return registered.length === 0 ? written : inHookOrder([...registered, ...written]);
      },
    },
    bus: {
      publish: (kind, payload) => attached(bus).publish(kind, payload),
      publishSoon: (kind, payload) => attached(bus).publishSoon(kind, payload),
    },
    ports,
    monotonicMs: () => clock.monotonicMs(),
  });
  const allTools = (): readonly Tool[] => [...options.otherTools(), ...live.tools.tools(), ...meta.source.tools()];
  const meta: MetaRegistry = createMetaRegistry({
    config: () => live.current().config.meta,
    parser: {
      tool: (fields) => parseFields("tool", fields, checker),
      hook: (fields) => parseFields("hook", fields, checker),
      agent: (fields) => parseFields("agent", fields, checker),
    },
    checker,
    scripts: () => scripts,
    hooks,
    taken(kind) {
      const { tools, hooks: written, agents } = live.current();
      if (kind === "tool") return [...options.otherTools(), ...tools].map(({ name }) => name);
      return (kind === "hook" ? written : agents).map(({ name }) => name);
    },
    tools: () => allTools().filter(({ name }) => live.hidden(name) === undefined),
  });

  function attach(given: EventBus, call: NestedCall): void {
    bus = given;
    nested = call;
  }

  let told = "{}";
  function tellMetrics(turn: TurnId): void {
    const counters = states.of(session).metrics.snapshot();
    const now = JSON.stringify(counters);
    if (now === told) return;
    told = now;
    note(attached(bus), "MetricsCounted", { turn, counters });
  }

  return {
    live,
    hooks,
    tellMetrics,
    sources: [live.tools, meta.source],
    attach,
    async refresh(signal) {
      states.of(session).setValues(context.values());
      await live.refresh(attached(bus), signal);
    },
    close: custom.close,
  };
}

/** A hook has no call of its own: what it calls belongs to the call that it was asked about, or stands for itself in the turn. */
function asParent(at: HookPoint, ids: Pick<IdMint, "call">): ToolCall {
  const { session, turn, step, callId, depth, nesting, originator, signal } = at;
  if (turn === undefined || originator === undefined) {
    throw new ReasonError("NotAllowed", { detail: "Outside a turn no tool can be called." });
  }
  return {
    id: callId ?? ids.call(),
    session,
    turn,
    step: step ?? 1,
    depth,
    nesting,
    originator,
    tool: { name: "hook", label: "Hook", class: "mutating", description: "", parameters: {}, run: refuse },
    args: {},
    signal,
    progress: () => undefined,
    annotate: () => undefined,
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("a hook is no tool"));
}
