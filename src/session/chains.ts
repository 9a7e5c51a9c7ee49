/** What every call of a tool passes on its way, outermost first. */
import type { Clock, EffectPorts } from "#base";
import {
  type Approver,
  createRunTool,
  type EventBus,
  type GivenAnswers,
  type HookDispatcher,
  type NestedCall,
  note,
  type Redaction,
  type ToolCall,
  type ToolMiddleware,
} from "#engine";
import {
  createGate,
  createLedger,
  createOutputLimit,
  createPostHooks,
  createPreHooks,
  createResultRedaction,
  createTimeLimit,
  createValidation,
  type NetworkJudgement,
  type Permission,
  type SessionLabels,
} from "#governance";
import type { EventPayload } from "#protocol";
import { createMemoization } from "#tools";
import type { Birth } from "./tree.ts";

export type Asking = Pick<EventPayload<"PermissionRequested">, "delegate">;

/** Who asks, for whoever is asked. */
export function askingOf(birth: Birth | undefined): Asking {
  if (birth === undefined) return {};
  const { spec, parent } = birth;
  return { delegate: { agent: spec.agent, depth: spec.depth, parent } };
}

interface ToolChainParts {
  readonly bus: EventBus;
  readonly approver: Approver;
  readonly permission: Permission;
  readonly ports: EffectPorts;
  readonly clock: Clock;
  readonly extra: readonly ToolMiddleware[];
  readonly hooks: HookDispatcher | undefined;
  readonly undo: ToolMiddleware | undefined;
  readonly nested: NestedCall;
  readonly policyVersion: () => string;
  readonly redaction: Redaction;
  readonly labels: SessionLabels;
  readonly labelling: ToolMiddleware;
  /** Other agents work in the same folder now. */
  readonly isShared: () => boolean;
  readonly asking: Asking;
  /** Of an earlier run that was cut off. */
  readonly givenAnswers: GivenAnswers | undefined;
}

/** Outermost first. Nothing reaches a tool but through all of these, and only the gate hands out ports. */
export function toolChain(parts: ToolChainParts) {
  const { bus, approver, permission, ports, clock, extra, hooks, undo, nested, policyVersion, isShared, asking } =
    parts;
  const { labels, labelling } = parts;
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
      createMemoization(isShared),
      labelling,
      redaction,
      createLedger({ bus, clock, policyVersion }),
      ...(undo === undefined ? [] : [undo]),
      createTimeLimit(clock),
      createGate({ ports, clock, policyVersion, judgeEffect, isJudgedWhole, onNetwork: networkRecord(bus) }),
    ],
    last: createRunTool({
      nested,
      async ask(call: ToolCall, question, options) {
        const { turn, id: callId, signal } = call;
        const earlier = parts.givenAnswers?.take(callId, question);
        if (earlier !== undefined) return earlier;
        if (!approver.canAnswer(turn)) return undefined;
        const choices = options.length === 0 ? {} : { options: [...options] };
        // Waits before it is told: whoever is told may answer at once.
        const untold = new AbortController();
        const answered = approver.answer({ turn, callId }, AbortSignal.any([signal, untold.signal]));
        try {
          await bus.publish("QuestionAsked", { turn, call_id: callId, question, ...choices, ...asking });
        } catch (error) {
          untold.abort();
          (await answered)?.onRecord?.(Promise.reject(error));
          throw error;
        }
        const given = await answered;
        if (given === undefined) return undefined;
        const { answer, by, onRecord } = given;
        const recorded = bus.publish("QuestionAnswered", { turn, call_id: callId, answer, by });
        onRecord?.(recorded);
        await recorded;
        return answer;
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
