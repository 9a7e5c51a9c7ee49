/** The plan of the session: the one that is agreed and in every request, and the one that waits for a person. Pure. */
import { visibleLine, visibleProse } from "#base";
import { type CallId, type Event, planLine, type SessionId } from "#protocol";
import type { SessionFacts } from "./session-status.ts";
import { add, notice, type Transcript } from "./transcript.ts";

export interface ProposedPlan {
  readonly plan: string;
  /** The call that asks, or has asked. */
  readonly call: CallId | undefined;
}

export interface SessionPlan {
  readonly agreed: string | undefined;
  readonly proposed: ProposedPlan | undefined;
}

export const noPlan: SessionPlan = { agreed: undefined, proposed: undefined };

export function planOfFacts(facts: Pick<SessionFacts, "agreed_plan" | "proposed_plan">): SessionPlan {
  const { agreed_plan: agreed, proposed_plan: waits } = facts;
  return { agreed, proposed: waits && { plan: waits.plan, call: waits.call_id } };
}

export function withPlanEvent(before: SessionPlan, event: Event, session: SessionId): SessionPlan {
  if (event.session !== session) return before;
  switch (event.kind) {
    case "QuestionAsked": {
      const { plan, call_id: call } = event.payload;
      return plan === undefined ? before : { ...before, proposed: { plan, call } };
    }
    case "QuestionAnswered":
      return before.proposed?.call === event.payload.call_id ? { ...before, proposed: undefined } : before;
    case "PlanChanged": {
      const { state, plan, call_id: call } = event.payload;
      if (state === "proposed") return plan === undefined ? before : { ...before, proposed: { plan, call } };
      return { agreed: state === "agreed" ? plan : undefined, proposed: undefined };
    }
    default:
      return before;
  }
}

/** What the conversation shows of it: the text once it is agreed, or once it waits and nobody was asked. */
export function withPlanNotice(before: Transcript, event: Extract<Event, { kind: "PlanChanged" }>): Transcript {
  const { state, plan } = event.payload;
  const said = notice(before, state === "proposed" ? "warn" : "good", planLine(state));
  if (plan === undefined) return said;
  return add(said, { kind: "answer", key: `plan/${event.id}`, text: plan, printed: 0, isDone: true });
}

/** Its first line, without the marks of Markdown before it. */
export function planTitle(plan: string): string {
  const first = visibleProse(plan)
    .split("\n")
    .find((line) => line.trim() !== "");
  return visibleLine((first ?? "").replace(/^[\s#>*+-]+|^\s*\d+[.)]\s+/, "").trim());
}
