/** What a session holds from before the events that are shown: its plan, its todos, and the inputs that wait. Pure. */
import { planOfFacts } from "./plan.ts";
import type { SessionFacts } from "./session-status.ts";
import type { State } from "./state.ts";

/**
 * For a state that has seen no event yet. `facts` were read before the events after `since` are followed: those say what is newer, in
 * the order in which it happened.
 */
export function withLasting(state: State, facts: SessionFacts, since: number): State {
  const earlier = facts.queued.filter(({ id }) => id <= since);
  return {
    ...state,
    status: { ...state.status, facts },
    plan: planOfFacts(facts),
    queue: earlier.map(({ id, text }) => ({ id, content: [{ type: "text", text }] })),
    transcript: { ...state.transcript, todos: [...facts.todos] },
  };
}
