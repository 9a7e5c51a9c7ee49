/** How a person answers a plan that waits: approves it, writes it as it should be, or says what is wrong with it. Pure. */
import { counted, defined, visibleProse } from "#base";
import { type CallId, PLAN_MAX_CHARS, type SessionId } from "#protocol";
import type { QuestionStep, Questions } from "./approval.ts";
import type { Effect } from "./effects.ts";
import { emptyForm } from "./form.ts";
import type { ProposedPlan } from "./plan.ts";
import type { Update } from "./state.ts";

export interface PlanQuestion {
  readonly kind: "plan";
  /** The call that asks, or has asked. */
  readonly id: CallId | undefined;
  readonly session: SessionId;
  readonly plan: string;
  /** The call waits for the answer. Otherwise the plan waits on the record, and the person has opened it. */
  readonly isAsked: boolean;
}

export type PlanAnswer = "approve" | "edit" | "reject";

const KEYS: Readonly<Record<string, PlanAnswer>> = { a: "approve", y: "approve", e: "edit", n: "reject", w: "reject" };

export function withPlanKey(before: Questions, question: PlanQuestion, key: string): QuestionStep {
  const answer = KEYS[key];
  if (answer !== undefined) return withPlanAnswer(before, question, answer);
  if (key === "d") return { questions: before, effects: [{ type: "open", layer: "plan" }] };
  // What asks nobody can be left for later.
  return { questions: key === "escape" && !question.isAsked ? withoutPlan(before) : before, effects: [] };
}

function withPlanAnswer(before: Questions, { id, plan, isAsked }: PlanQuestion, answer: PlanAnswer): QuestionStep {
  if (answer === "approve") return { questions: isAsked ? before : withoutPlan(before), effects: [approved(id)] };
  const questions = { ...before, isTypingAnswer: true, isEditingPlan: answer === "edit", form: emptyForm };
  return { questions, effects: answer === "edit" ? [{ type: "write", text: visibleProse(plan) }] : [] };
}

/** What was typed: the plan as it should be, or what is wrong with it. */
export function withPlanText(before: Questions, { id, plan, isAsked }: PlanQuestion, text: string): QuestionStep {
  if (!before.isEditingPlan) return { questions: closed(before, isAsked), effects: rejected(id, text, isAsked) };
  if (text === "") return withProblem(before, "The plan is empty. Esc leaves it as it was.");
  if (text.length > PLAN_MAX_CHARS) {
    const size = counted(text.length, "character");
    return withProblem(before, `The plan has ${size}; at most ${PLAN_MAX_CHARS} are possible.`);
  }
  const isSame = text === visibleProse(plan).trim();
  return { questions: closed(before, isAsked), effects: [isSame ? approved(id) : approved(id, text)] };
}

function withProblem(before: Questions, problem: string): QuestionStep {
  return { questions: { ...before, form: { ...emptyForm, problem } }, effects: [] };
}

function closed(before: Questions, isAsked: boolean): Questions {
  const open = { ...before, isTypingAnswer: false, isEditingPlan: false, form: emptyForm };
  return isAsked ? open : withoutPlan(open);
}

function withoutPlan(before: Questions): Questions {
  return { ...before, waiting: before.waiting.filter((one) => one.kind !== "plan" || one.isAsked) };
}

/** Of the plan on the screen: the agent may have proposed another one by now. */
function approved(call_id: CallId | undefined, plan?: string): Effect {
  return { type: "submit", command: { kind: "ExitPlanMode", approve: true, ...defined({ call_id, plan }) } };
}

/** The call reads the reason. Where none waits, the plan is dropped and the reason is the next input. */
function rejected(call_id: CallId | undefined, text: string, isAsked: boolean): readonly Effect[] {
  const said = defined({ call_id, reason: text === "" ? undefined : text });
  if (isAsked) return [{ type: "submit", command: { kind: "ExitPlanMode", approve: false, ...said } }];
  const dropped: Effect = { type: "submit", command: { kind: "ClosePlan", as: "dropped" } };
  return text === "" ? [dropped] : [dropped, { type: "queue", text }];
}

/** Carries out what the screen of the plan has asked for: the plan comes before all other questions, answered in this way. */
export function answeredPlan({ state, effects }: Update): Update {
  const asked = effects.find((effect) => effect.type === "plan");
  if (asked === undefined) return { state, effects };
  const others = effects.filter((effect) => effect !== asked);
  const { questions, plan, transcript } = state;
  const question = planQuestion(questions, plan.proposed, transcript.session);
  if (question === undefined) return { state, effects: others };
  const waiting = [question, ...questions.waiting.filter((one) => one.kind !== "plan")];
  const step = withPlanAnswer({ ...questions, waiting }, question, asked.answer);
  return { state: { ...state, questions: step.questions }, effects: [...others, ...step.effects] };
}

function planQuestion(
  { waiting }: Questions,
  proposed: ProposedPlan | undefined,
  session: SessionId,
): PlanQuestion | undefined {
  const asked = waiting.find((one) => one.kind === "plan");
  if (asked !== undefined || proposed === undefined) return asked;
  return { kind: "plan", id: proposed.call, session, plan: proposed.plan, isAsked: false };
}
