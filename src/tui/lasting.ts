/** What a session holds from before the events that are shown: its plan, its todos, and the inputs that wait. Pure. */
import type { Event } from "#protocol";
import { planOfFacts, withPlanEvent } from "./plan.ts";
import { type WaitingInput, withQueueEvent } from "./queue.ts";
import type { SessionFacts } from "./session-status.ts";
import type { State } from "./state.ts";

/**
 * The conversation is shown before the facts of the session are known. Until then, these are the events that say what is newer than
 * the facts, in the order in which they happened.
 */
export interface SinceAttached {
  /** Events up to this id are not shown. */
  readonly since: number;
  readonly events: readonly Event[];
}

const KINDS: ReadonlySet<string> = new Set([
  "InputQueued",
  "TurnStarted",
  "InputRefused",
  "QuestionAsked",
  "QuestionAnswered",
  "PlanChanged",
  "TodosChanged",
]);
/** A server that has not said its facts after so many is not waited for: what lasts is then what its events say. */
const MAX_EVENTS = 1_000;

export function withNewer(before: SinceAttached | undefined, event: Event): SinceAttached | undefined {
  if (before === undefined || !KINDS.has(event.kind)) return before;
  return before.events.length < MAX_EVENTS ? { ...before, events: [...before.events, event] } : undefined;
}

/** The facts, and on top of them what has happened since. */
export function withLasting(state: State, facts: SessionFacts): State {
  const known = { ...state, status: { ...state.status, facts } };
  if (state.lasting === undefined) return known;
  const { since, events } = state.lasting;
  const { session } = state.transcript;
  const waited = facts.queued.filter(({ id }) => id <= since);
  const todos = events.findLast((event) => event.kind === "TodosChanged" && event.session === session);
  return {
    ...known,
    lasting: undefined,
    plan: events.reduce((plan, event) => withPlanEvent(plan, event, session), planOfFacts(facts)),
    queue: events.reduce<readonly WaitingInput[]>(
      (queue, event) => withQueueEvent(queue, event, session),
      waited.map(({ id, text }) => ({ id, content: [{ type: "text", text }] })),
    ),
    transcript: todos === undefined ? { ...state.transcript, todos: [...facts.todos] } : state.transcript,
  };
}
