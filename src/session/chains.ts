/** What every request and every call of a tool passes on its way, both lists outermost first. */
import type { Project } from "#artifacts";
import {
  createHistory,
  createIdentity,
  createUntrusted,
  type PromptBlock,
  promptBlocks,
  type SessionCompactor,
  withJoined,
} from "#context";
import { createToolRetries } from "#delegation";
import {
  type EventBus,
  type HookDispatcher,
  type ModelQuestions,
  note,
  type RequestMiddleware,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import {
  type Budgets,
  createChangedCalls,
  createCompletionHooks,
  createGate,
  createLabelling,
  createLedger,
  createLookups,
  createOutputLimit,
  createPostHooks,
  createPreHooks,
  createResultRedaction,
  createTimeLimit,
  createValidation,
  type LookUp,
  type NetworkJudgement,
  namedPaths,
  type Permission,
  type SkillLimits,
} from "#governance";
import { type BackgroundJobs, createMemoization } from "#tools";
import { contextConfig } from "./compaction.ts";
import type { SessionEngineParts } from "./engine.ts";
import { labelRules, policyVersion } from "./policy.ts";
import { delegatePrompt, sharedUndo } from "./tree.ts";

export interface ChainParts {
  readonly permission: Permission;
  readonly budgets: Budgets;
  readonly askModel: ModelQuestions["ask"];
  readonly hooks: HookDispatcher | undefined;
  readonly limits: SkillLimits;
  readonly jobs: Pick<BackgroundJobs, "mayWrite"> | undefined;
  /** What stands in the prompt besides the blocks of the project. */
  readonly joined: () => readonly PromptBlock[];
  readonly compactor: SessionCompactor;
}

/** Behind the last one the request is redacted and reaches the provider. */
export function requestChain(
  parts: SessionEngineParts,
  {
    budgets,
    hooks,
    limits,
    joined,
    compactor,
  }: Pick<ChainParts, "budgets" | "hooks" | "limits" | "joined" | "compactor">,
): RequestMiddleware[] {
  const { dependencies, birth, world, place, depth, standing } = parts;
  const { workspace, runtime } = place;
  const project = (): Project | undefined => runtime?.live.current();
  const plain = promptBlocks({ files: [], standing, workspace, platform: world.machine.platform });
  return [
    budgets.request,
    ...dependencies.extensions.requestChain,
    createIdentity(() => {
      if (birth !== undefined) return delegatePrompt(birth.spec, project()) ?? plain;
      return withJoined(runtime?.live.prompt() ?? plain, joined());
    }),
    limits.request,
    createHistory({ maxTurns: () => shownTurns(parts) }),
    createUntrusted(),
    ...(hooks === undefined ? [] : [createCompletionHooks({ hooks, depth })]),
    compactor.measure,
  ];
}

/** Where nothing compacts the conversation, it is cut. */
function shownTurns(parts: SessionEngineParts): number | undefined {
  const { compaction, maxHistory } = contextConfig(parts);
  return compaction === "off" ? maxHistory : undefined;
}

/** Behind the last one the tool runs. Nothing reaches a tool but through all of these, and only the gate hands out ports. */
export function toolChain(
  parts: SessionEngineParts,
  { permission, budgets, hooks, limits, askModel, jobs }: ChainParts,
): ToolMiddleware[] {
  const { core, dependencies, birth, place, depth } = parts;
  const { bus, clock } = core;
  const { ports } = parts.world;
  const { labels } = place;
  const redaction = createResultRedaction(core.redaction);
  const validation = createValidation();
  const version = (): string => policyVersion(parts);
  /** Other agents or background commands work in the same folder now. */
  const isShared = (): boolean => place.tree.count > depth - dependencies.depth || jobs?.mayWrite === true;
  return [
    createOutputLimit(),
    budgets.tool,
    place.rates,
    ...(birth === undefined ? [] : [createToolRetries()]),
    ...dependencies.extensions.toolChain,
    createChangedCalls([
      validation,
      // What a hook has changed is validated again.
      ...(hooks === undefined ? [] : [createPreHooks(hooks, () => labels.held()), validation]),
      limits.tool,
      permission.middleware,
    ]),
    ...(place.runtime === undefined ? [] : [touching(place.runtime.live.touch)]),
    // What a hook has added is redacted again.
    ...(hooks === undefined ? [] : [redaction, createPostHooks(hooks), createOutputLimit()]),
    createMemoization(isShared),
    createLabelling({ labels, rules: () => labelRules(parts), files: ports.files }),
    redaction,
    createLedger({ bus, clock, policyVersion: version }),
    ...(place.undo === undefined ? [] : [sharedUndo(place.undo, place.root, birth?.spec.callId)]),
    createTimeLimit(clock),
    sessionGate(parts, { permission, askModel }),
  ];
}

/** What people have looked up while they type: through the same gate as the calls. */
export function lookups(parts: SessionEngineParts, chained: Pick<ChainParts, "permission" | "askModel">): LookUp {
  const { core, dependencies, place } = parts;
  return createLookups({
    ...{ session: core.id, bus: core.bus, clock: core.clock, ids: dependencies.ids },
    tools: place.allTools,
    judge: chained.permission.judge,
    gate: sessionGate(parts, chained),
    policyVersion: () => policyVersion(parts),
  });
}

function sessionGate(
  parts: SessionEngineParts,
  { permission: { judgeEffect, isJudgedWhole }, askModel }: Pick<ChainParts, "permission" | "askModel">,
): ToolMiddleware {
  const { bus, clock } = parts.core;
  return createGate({
    ...{ ports: parts.world.ports, clock, policyVersion: () => policyVersion(parts) },
    ...{ judgeEffect, isJudgedWhole, askModel },
    onNetwork: networkRecord(bus),
    onRecall({ id }, memories) {
      for (const { name, labels: carried } of memories) {
        for (const label of carried) parts.place.labels.add(label, `the memory ${name}`, id);
      }
    },
  });
}

/** Context files of the folders that a call works in are read before the next step. */
function touching(touch: (path: string) => void): ToolMiddleware {
  return (call, next) => {
    for (const path of namedPaths(call.tool.name, call.args)) touch(path);
    return next(call);
  };
}

/** Each host that a call wanted to reach, on the record and on the call itself. */
function networkRecord(bus: EventBus): (call: ToolCall, judged: NetworkJudgement) => void {
  return (call, judged) => {
    call.annotate({ "network.policy": judged.policy, "network.host": judged.host });
    note(bus, "NetworkJudged", { turn: call.turn, call_id: call.id, ...judged });
  };
}
