/** What a project brings to one session: its scripts with what they may reach, its hooks, its tools, and what it registers. */

import {
  type AgentArtifact,
  type FieldParser,
  findSkills,
  listedSkills,
  type Project,
  type ProjectLoader,
  skillLine,
  skillsOf,
  withAddedHooks,
} from "#artifacts";
import { type Clock, defined, type EffectPorts, type Random, SECRET_PREFIX } from "#base";
import type { BasePrompt } from "#context";
import type { Bundles } from "#delegation";
import {
  type EventBus,
  type Hook,
  type HookDispatcher,
  type HookPoint,
  type NestedCall,
  note,
  type RunContext,
  type Tool,
  type ToolCall,
} from "#engine";
import { createCustomEvents, createHookDispatcher } from "#governance";
import { type IdMint, ReasonError, type SessionId, type TurnId } from "#protocol";
import {
  type ContextValues,
  createMetaRegistry,
  createRunStates,
  createScriptChecker,
  createScripts,
  type MetaRegistry,
  type ScriptServices,
} from "#script";
import { createSkillTool } from "#tools";
import { childEnvironment } from "#world";
import type { AskAck } from "./acks.ts";
import { createBundles } from "./bundles.ts";
import { type AskForAck, createLiveProject, type LiveProject } from "./live-project.ts";
import type { ShellHooks } from "./shell-hooks.ts";

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
  readonly standing: BasePrompt;
  readonly parseFields: FieldParser;
  readonly askForAck?: AskForAck;
  /** Hooks of plugins: asked in every session of the tree. */
  readonly pluginHooks: readonly Hook[];
  /** Asked after all others. */
  readonly shellHooks: ShellHooks;
  /** All other tools, whose names are taken. */
  readonly otherTools: () => readonly Tool[];
}

/** The way to ask about files in the conversation; undefined outside of the steps of a turn. */
export type AskNow = (signal: AbortSignal) => AskAck | undefined;

interface Attached {
  readonly bus: EventBus;
  readonly nested: NestedCall;
  readonly askNow: AskNow;
}

export interface ProjectRuntime {
  readonly live: LiveProject;
  readonly hooks: HookDispatcher;
  /** Of its files, and those of `meta.*` with what was registered. */
  tools(): { readonly project: readonly Tool[]; readonly meta: readonly Tool[] };
  /** A turn of the root is over. Publishes the counters of scripts when they have changed. */
  endTurn(turn: TurnId): void;
  /** Called once for each session of the tree, when it has its bus. `askNow`: see `AskNow`. */
  attach(bus: EventBus, nested: NestedCall, askNow: AskNow): void;
  /** Before each step. */
  refresh(turn?: TurnId): Promise<void>;
  /** At the beginning of each step, once the turn is in the log: asks about files that wait for an ack. */
  askAcks(signal: AbortSignal): Promise<void>;
  /** Asks no more hooks about `custom.*` events; before the session's last event. */
  close(): Promise<void>;
  /** The same project for a delegate of the session: its own log and values, its own hooks before all others. */
  forDelegate(session: SessionId, ports: EffectPorts, own: readonly Hook[]): DelegateRuntime;
  /** The hooks of a session of the tree, with more of them before. */
  hooksFor(session: SessionId, ports: EffectPorts, own: readonly Hook[]): HookDispatcher;
  readonly bundles: Bundles;
  /** Those of files and those that were registered. */
  agents(): readonly AgentArtifact[];
  /** Adds to the counters of the run. */
  count(name: string, by: number): void;
}

export interface DelegateRuntime {
  readonly hooks: HookDispatcher;
  refresh(): Promise<void>;
  askAcks(signal: AbortSignal): Promise<void>;
  /** The session is over. */
  detach(): void;
}

export function createProjectRuntime(options: ProjectRuntimeOptions): ProjectRuntime {
  const { session, clock, context, ports, env, ids, parseFields, machine } = options;
  const { platform, hostname } = machine;
  const sessions = new Map<SessionId, Attached>();
  const attached = (id: SessionId) => {
    const found = sessions.get(id);
    if (found === undefined) throw new Error("the session has not started yet, or has ended");
    return found;
  };
  const states = createRunStates();
  const checker = createScriptChecker();
  const environment = childEnvironment(env, ports.files.root);
  const custom = createCustomEvents({
    bus: (of) => attached(of).bus,
    hooks: (of) => dispatchers.get(of) ?? hooks,
    clock,
  });

  const services: ScriptServices = {
    clock,
    random: machine.random,
    host: { args: options.args, hostname, platform: platform === "win32" ? "windows" : platform },
    states,
    env: (name) => machine.variable(name, () => environment[name]),
    secret: (name) => machine.secret(name, () => env[`${SECRET_PREFIX}${name.toUpperCase()}`]),
    log({ session: of, turn, callId, source, level, message }) {
      const bus = sessions.get(of)?.bus;
      if (bus === undefined) return;
      note(bus, "ScriptLogged", {
        ...defined({ turn, call_id: callId }),
        source,
        level,
        message,
      });
    },
    emit: custom.emit,
    async callTool(name, args, at, callOptions) {
      const result = await attached(at.session).nested(asParent(at, ids), name, args, callOptions);
      return { content: result.content, isError: result.outcome !== "ok" };
    },
    get maxCallDepth() {
      return live.current().config.meta.maxCallDepth;
    },
    get meta() {
      return live.current().config.meta.enabled ? meta : undefined;
    },
  } as ScriptServices;

  const scripts = createScripts(services);
  /** The turn of the root that runs now. */
  let running: TurnId | undefined;
  /** Of the run, under what the scripts of this turn have set. */
  function values(): ContextValues {
    const state = states.of(session);
    state.setValues(context.values());
    return state.turn(running).snapshot();
  }
  const live = createLiveProject({
    loader: options.loader,
    project: options.project,
    scripts,
    values,
    workspace: ports.files.root,
    standing: options.standing,
    platform,
    ...defined({ askForAck: options.askForAck }),
  });
  const dispatchers = new Map<SessionId, HookDispatcher>();
  function hooksFor(of: SessionId, given: EffectPorts, own: readonly Hook[]): HookDispatcher {
    return createHookDispatcher({
      source: {
        hooks(event) {
          const mine = [...own, ...options.pluginHooks].filter((hook) => hook.event === event);
          const registered = meta.hooks.hooks(event);
          return options.shellHooks.behind(event, withAddedHooks(live.hooks.hooks(event), [...mine, ...registered]));
        },
      },
      bus: {
        publish: (kind, payload) => attached(of).bus.publish(kind, payload),
        publishSoon: (kind, payload) => attached(of).bus.publishSoon(kind, payload),
      },
      ports: given,
      monotonicMs: () => clock.monotonicMs(),
      confinement: options.shellHooks.confinement,
    });
  }
  const hooks = hooksFor(session, ports, []);
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

  const skill = createSkillTool({
    skills: () => skillsOf(live.current()),
    search: (words) => findSkills(skillsOf(live.current()), words).map(skillLine),
  });
  /** None without a skill in the prompt. */
  const skillTools = (): readonly Tool[] =>
    listedSkills(skillsOf(live.current()), live.skillTriggers.raised()).length === 0 ? [] : [skill];

  function attach(bus: EventBus, nested: NestedCall, askNow: AskNow): void {
    sessions.set(bus.session, { bus, nested, askNow });
    if (bus.session === session) bus.subscribe(live.skillTriggers.onEvent);
  }

  async function askAcks(of: SessionId, signal: AbortSignal): Promise<void> {
    const { bus, askNow } = attached(of);
    const ask = askNow(signal);
    if (ask !== undefined) await live.askAcks(bus, ask);
  }

  function forDelegate(of: SessionId, given: EffectPorts, own: readonly Hook[]): DelegateRuntime {
    states.adopt(of, session);
    const asked = hooksFor(of, given, own);
    dispatchers.set(of, asked);
    return {
      hooks: asked,
      async refresh() {
        states.of(of).setValues(context.values());
        await live.refresh(attached(of).bus);
      },
      askAcks: (signal) => askAcks(of, signal),
      detach() {
        states.drop(of);
        sessions.delete(of);
        dispatchers.delete(of);
      },
    };
  }

  let told = "{}";
  function endTurn(turn: TurnId): void {
    running = undefined;
    const counters = states.of(session).metrics.snapshot();
    const now = JSON.stringify(counters);
    if (now === told) return;
    told = now;
    note(attached(session).bus, "MetricsCounted", { turn, counters });
  }

  return {
    live,
    hooks,
    endTurn,
    tools: () => ({ project: [...live.tools.tools(), ...skillTools()], meta: meta.source.tools() }),
    attach,
    async refresh(turn) {
      running = turn;
      states.of(session).setValues(context.values());
      await live.refresh(attached(session).bus);
    },
    askAcks: (signal) => askAcks(session, signal),
    close: custom.close,
    forDelegate,
    hooksFor,
    bundles: createBundles({ parseFields, checker, scripts }),
    agents: () => [...live.current().agents, ...meta.agents()],
    count: (name, by) => states.of(session).metrics.incr(name, by),
  };
}

/** A hook has no call of its own: what it calls belongs to the call that it was asked about, or stands for itself in the turn. */
function asParent(at: HookPoint, ids: Pick<IdMint, "call">): ToolCall {
  const { session, turn, step, callId, depth, nesting, originator, signal } = at;
  if (turn === undefined || originator === undefined) {
    throw new ReasonError("NotAllowed", "Tools can be called only during a turn.");
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
  return Promise.reject(new Error("a hook is not a tool"));
}
