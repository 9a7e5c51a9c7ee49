/** Questions of a tool to a person: on the record, waited for, answered once. */

import { defined } from "#base";
import type { Approver, AskPerson, EventBus, GivenAnswers } from "#engine";
import type { EventPayload } from "#protocol";
import type { Birth } from "./tree.ts";

export type Asking = Pick<EventPayload<"PermissionRequested">, "delegate">;

/** Who asks, for whoever is asked. */
export function askingOf(birth: Birth | undefined): Asking {
  if (birth === undefined) return {};
  const { spec, parent } = birth;
  return { delegate: { agent: spec.agent, depth: spec.depth, parent } };
}

export interface QuestionParts {
  readonly bus: EventBus;
  readonly approver: Approver;
  readonly asking: Asking;
  /** Of an earlier run that was cut off. */
  readonly givenAnswers: GivenAnswers | undefined;
}

export function askPerson({ bus, approver, asking, givenAnswers }: QuestionParts): AskPerson {
  return async ({ turn, id: callId, signal }, question, options, details = {}) => {
    const { signal: withdrawn = signal, ...shown } = details;
    const earlier = givenAnswers?.take(callId, question);
    if (earlier !== undefined) return earlier;
    if (!approver.canAnswer(turn)) return undefined;
    const choices = defined({ options: options.length === 0 ? undefined : [...options] });
    // Waits before the question is published: whoever sees it may answer at once.
    const unpublished = new AbortController();
    const answered = approver.answer(
      { turn, callId, isLong: details.plan !== undefined },
      AbortSignal.any([signal, withdrawn, unpublished.signal]),
    );
    try {
      await bus.publish("QuestionAsked", { turn, call_id: callId, question, ...choices, ...shown, ...asking });
    } catch (error) {
      unpublished.abort();
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
  };
}
