/** The engine of one session: what its requests and its calls pass, its budgets, and how it delegates. */

import { type LabelRule, type Project, type Settings, tighterBudgets } from "#artifacts";
import { canonicalHash, type DomainList, defined } from "#base";
import { createHistory, createIdentity, createUntrusted, promptBlocks } from "#context";
import { createToolRetries } from "#delegation";
import {
  type Approver,
  createSession,
  type EngineSession,
  type EventBus,
  type HookDispatcher,
  type NestedCall,
  type Provider,
  type Redaction,
  type Reopened,
  type RequestMiddleware,
  type SessionLog,
  type SessionParts,
  type Tool,
  type ToolSource,
  traceProvider,
} from "#engine";
import {
  type Budgets,
  createBudgets,
  createCompletionHooks,
  createLabelling,
  createPermission,
  type Permission,
  type Rule,
} from "#governance";
import type { SessionId, TurnId } from "#protocol";
import { askingOf, toolChain } from "./chains.ts";
import type { SessionDependencies } from "./dependencies.ts";
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
} from "./tree.ts";
import { createUntoldNotice } from "./untold-notice.ts";
import type { SessionWorld } from "./world.ts";

export interface SessionEngineParts {
  readonly id: SessionId;
  readonly depth: number;
  readonly dependencies: SessionDependencies;
  readonly redaction: Redaction;
  readonly approver: Approver;
  readonly birth: Birth | undefined;
  readonly world: SessionWorld;
  readonly place: SessionPlace;
  readonly log: SessionLog;
  readonly model: string;
  /** Where an earlier run left the session. */
  readonly earlier: Reopened | undefined;
  /** The prompt where no project has another. */
  readonly standing: string;
  readonly openChild: DelegatingParts["openChild"];
}

export interface SessionEngine {
  readonly engine: EngineSession;
  readonly permission: Permission;
  /** Those in force, but for what answers have added. */
  rules(): readonly Rule[];
  /** When the last event is stored. */
  close(): void;
}

export function createSessionEngine(parts: SessionEngineParts): SessionEngine {
  const { id, depth, dependencies, birth, world, place, earlier } = parts;
  const { settings, clock, ids, store, models, extensions, taped } = dependencies;
  const { runtime, labels } = place;
  const own = birth && runtime?.forDelegate(id, world.ports, [...birth.spec.hooks, ...birth.inheritedHooks]);
  const hooks = own?.hooks ?? runtime?.hooks;
  const hidden = runtime && hiddenFrom(runtime, policiesOf(birth));
  const budgets = createBudgets({
    clock,
    limits: () => tighterBudgets(settings.budgets, runtime?.live.current().config.budgets ?? {}),
    tree: place.budget,
    onTreeUsedUp: () => place.tree.stopAll({ reason: "budget" }),
    ...(earlier === undefined ? {} : { spent: earlier.remains.spent }),
  });
  const rules = (): readonly Rule[] =>
    runtime === undefined ? dependencies.rules : [...dependencies.rules, ...runtime.live.rules()];
  const untold = createUntoldNotice(dependencies.secretsTold);
  let permission: Permission | undefined;
  let delegating: Delegating | undefined;
  const engine: EngineSession = createSession({
    id,
    clock,
    ids,
    store,
    log: parts.log,
    ...(taped === undefined ? {} : { schedule: taped.tape.schedule }),
    provider: traced(world.taped?.provider(models.provider) ?? models.provider, id, dependencies.traceCall),
    redaction: parts.redaction,
    model: parts.model,
    requestChain: requestChain(parts, budgets, hooks),
    toolChain: (bus, nested, redaction) => {
      permission = permissionOf(parts, bus, rules);
      budgets.attach(bus);
      world.sandbox.recordTo(bus);
      untold.attach(bus);
      runtime?.attach(bus, nested);
      if (runtime !== undefined && hidden !== undefined) {
        delegating = delegatingOf(parts, { bus, runtime, hidden, engine: () => engine });
      }
      return callChain(parts, { bus, nested, redaction, permission, budgets, hooks });
    },
    toolSources: toolSources(parts, () => delegating),
    ...defined({ hooks, hidden }),
    ...(runtime === undefined ? {} : { beforeStep: own?.refresh ?? runtime.refresh }),
    ...(birth === undefined ? {} : { checkStop: birth.spec.checkStop }),
    settle: async () => delegating?.delegations.settle(),
    ...(runtime === undefined && Object.keys(settings.budgets).length === 0 ? {} : { beforeEnd: tellTotals }),
    // No input and no answer is written before every key that is in use can be recognised.
    beforeTurn: untold.beforeTurn,
    toolSettings: settings.tools,
    ...defined({ checkToken: dependencies.checkToken }),
    maxSteps: birth?.spec.maxSteps ?? settings.maxSteps,
    depth,
    ...defined({ earlier }),
    subscribers: [budgets.onEvent, labels.onEvent, ...extensions.subscribers],
  });
  if (permission === undefined) throw new Error("the session has no tool chain");
  return {
    engine,
    permission,
    rules,
    close() {
      budgets.close();
      own?.detach();
    },
  };

  function tellTotals(turn: TurnId): void {
    // What the whole tree has counted is told by its root.
    if (birth === undefined) runtime?.tellMetrics(turn);
    budgets.tellLeft(turn);
  }
}

/** What every request passes on its way to the provider, outermost first. */
function requestChain(
  { dependencies, birth, world, place, depth, standing }: SessionEngineParts,
  budgets: Budgets,
  hooks: HookDispatcher | undefined,
): readonly RequestMiddleware[] {
  const { workspace, runtime } = place;
  const project = (): Project | undefined => runtime?.live.current();
  const plain = promptBlocks({ files: [], standing, workspace, platform: world.machine.platform });
  return [
    budgets.request,
    ...dependencies.extensions.requestChain,
    createIdentity(
      () => (birth && (delegatePrompt(birth.spec, project()) ?? plain)) ?? runtime?.live.prompt() ?? plain,
    ),
    createHistory({ maxTurns: () => (birth?.spec.context ?? project()?.config.context)?.maxHistory }),
    createUntrusted(),
    ...(hooks === undefined ? [] : [createCompletionHooks({ hooks, depth })]),
  ];
}

function permissionOf(parts: SessionEngineParts, bus: EventBus, rules: () => readonly Rule[]): Permission {
  const { dependencies, approver, birth, world, place } = parts;
  const { settings, clock, ids } = dependencies;
  const { ports, domains, programs } = world;
  return createPermission({
    bus,
    approver,
    rules,
    root: ports.files.root,
    files: ports.files,
    strict: () => settings.strictPermissions || place.runtime?.live.current().config.strictPermissions === true,
    autoApprove: dependencies.autoApprove,
    planMode: () => place.plan.active,
    labels: place.labels,
    labelRules: () => labelRules(parts),
    isOffline: () => settings.sandbox !== "off" && domains()?.entries.length === 0,
    hold: () => world.sandbox.hold(),
    network: () => networkText(settings, domains()),
    binding: { programs, policyVersion: () => policyVersion(parts) },
    newApproval: () => ids.approval(),
    clock,
    sessionRules: place.sessionRules,
    ...askingOf(birth),
  });
}

/** What allowed commands reach. */
function networkText({ network }: Settings, domains: DomainList | undefined): string {
  if (domains !== undefined) return domains.entries.length === 0 ? "none" : domains.entries.join(", ");
  return network?.mode === "direct" ? "the machine's own" : "public hosts, recorded";
}

/** What is private or untrusted, in the words of the user and of the project. */
function labelRules({ dependencies: { settings }, place: { runtime } }: SessionEngineParts): readonly LabelRule[] {
  return [...settings.labelRules, ...(runtime?.live.current().config.labelRules ?? [])];
}

function policyVersion({ dependencies: { rulesVersion }, place: { runtime } }: SessionEngineParts): string {
  return runtime === undefined ? rulesVersion : canonicalHash([rulesVersion, runtime.live.version()]);
}

function callChain(
  parts: SessionEngineParts,
  made: {
    readonly bus: EventBus;
    readonly nested: NestedCall;
    readonly redaction: Redaction;
    readonly permission: Permission;
    readonly budgets: Budgets;
    readonly hooks: HookDispatcher | undefined;
  },
): ReturnType<SessionParts["toolChain"]> {
  const { dependencies, approver, birth, world, place, depth } = parts;
  const { bus, nested, redaction, permission, budgets, hooks } = made;
  const { ports } = world;
  const { labels } = place;
  const retries = birth === undefined ? [] : [createToolRetries()];
  return toolChain({
    bus,
    approver,
    permission,
    ports,
    clock: dependencies.clock,
    extra: [budgets.tool, place.rates, ...retries, ...dependencies.extensions.toolChain],
    hooks,
    undo: place.undo && sharedUndo(place.undo, place.root, birth?.spec.callId),
    nested,
    policyVersion: () => policyVersion(parts),
    redaction,
    labels,
    labelling: createLabelling({ labels, rules: () => labelRules(parts), files: ports.files }),
    isShared: () => place.tree.count > depth - dependencies.depth,
    asking: askingOf(birth),
    givenAnswers: parts.earlier?.answers,
  });
}

function delegatingOf(
  { id, depth, dependencies, birth, world, place, openChild }: SessionEngineParts,
  made: Pick<DelegatingParts, "bus" | "runtime" | "hidden" | "engine">,
): Delegating {
  const { clock, adopt } = dependencies;
  const { ports } = world;
  return createDelegating({
    ...made,
    clock,
    depth,
    place,
    ports,
    birth,
    adopt: (open) => adopt(id, open),
    openChild,
  });
}

/** A root has all there are; a delegate has those that were named for it. */
function toolSources(
  { dependencies, birth, place: { runtime } }: SessionEngineParts,
  delegating: () => Delegating | undefined,
): readonly ToolSource[] {
  if (birth !== undefined) return [{ name: "delegate", tools: () => birth.spec.tools(delegating()?.tools() ?? []) }];
  const delegationTools = (): readonly Tool[] =>
    runtime !== undefined && isDelegating(runtime) ? (delegating()?.tools() ?? []) : [];
  return [...dependencies.toolSources, ...(runtime?.sources ?? []), { name: "delegation", tools: delegationTools }];
}

function traced(provider: Provider, id: SessionId, traceCall: SessionDependencies["traceCall"]): Provider {
  return traceCall === undefined ? provider : traceProvider(provider, () => traceCall(id));
}
