/**
 * `plan`: puts a plan to the person, who approves it, edits it or says what is wrong with it. What was agreed is kept by whoever made
 * the tool; the tool decides nothing itself.
 */
import { isRecord, objectSchema } from "#base";
import { type Tool, ToolError, textOutput } from "#engine";
import { type CallId, PLAN_MAX_CHARS, PLAN_REJECTION } from "#protocol";
import { flagArgument, optionalText } from "./arguments.ts";
import type { ToolFacts } from "./facts.ts";

/** People take their time; whoever carries the question may give up earlier. */
const ANSWER_TIMEOUT_MS = 60 * 60 * 1000;
const APPROVE = "approve";

export interface PlanDesk {
  /** Nobody has answered: the plan waits on the record. */
  propose(call: CallId, plan: string): Promise<void>;
  /** What the person approved; resolves when that is on the record. */
  agree(call: CallId, plan: string, edited: boolean): Promise<void>;
  /** The agreed plan is carried out. False when there is none. */
  done(call: CallId): Promise<boolean>;
}

export const planFacts = {
  name: "plan",
  label: "Plan",
  class: "read_only",
  kind: "question",
  fresh: true,
  subject: (args) => optionalText(args, "plan") ?? "done",
} as const satisfies ToolFacts;

export function createPlanTool(desk: PlanDesk): Tool & ToolFacts {
  // One plan at a time: whoever answers means the one that they see.
  let isAsking = false;
  return {
    ...planFacts,
    description: "Propose a plan (Markdown) to the user, who may edit it. done: true closes the plan once carried out.",
    parameters: objectSchema({ plan: { type: "string" }, done: { type: "boolean" } }),
    timeoutMs: ANSWER_TIMEOUT_MS,
    async run(args, { ask, callId }) {
      const plan = optionalText(args, "plan")?.trim() ?? "";
      if (plan === "" && flagArgument(args, "done")) {
        if (await desk.done(callId)) return textOutput("The plan is done.");
        throw new ToolError("No plan is agreed.");
      }
      if (plan === "") throw new ToolError("'plan' is missing: write the plan as Markdown.", "InvalidArguments");
      if (plan.length > PLAN_MAX_CHARS) throw new ToolError(tooLong("The plan", plan), "InvalidArguments");
      if (isAsking) throw new ToolError("Another plan waits for the user's answer. Propose one plan at a time.");
      isAsking = true;
      // With the plan in it: a client that does not know the field shows what is approved all the same.
      const asked = ask(`Approve this plan?\n\n${plan}`, [APPROVE], { plan });
      const answer = await asked.finally(() => {
        isAsking = false;
      });
      if (answer === undefined) {
        await desk.propose(callId, plan);
        const text =
          "Nobody has answered yet. The plan stays proposed: end your turn, and the user can approve it with /plan approve.";
        return { content: [{ type: "text", text }], isError: true };
      }
      const edited = answer.trim().toLowerCase() === APPROVE ? plan : editedPlan(answer);
      if (edited === undefined) {
        const said = answer.startsWith(PLAN_REJECTION) ? answer.slice(PLAN_REJECTION.length) : answer;
        return textOutput(`The user did not approve the plan. They said: ${said}`);
      }
      if (edited.length > PLAN_MAX_CHARS)
        throw new ToolError(`${tooLong("The text as edited", edited)} Nothing was agreed.`);
      await desk.agree(callId, edited, edited !== plan);
      return textOutput(edited === plan ? "The user approved the plan." : "The user edited the plan and approved it.");
    },
  };
}

/** `{"plan": "…"}`; undefined for any other answer. */
function editedPlan(answer: string): string | undefined {
  if (!answer.trimStart().startsWith("{")) return undefined;
  try {
    const given: unknown = JSON.parse(answer);
    return isRecord(given) && typeof given.plan === "string" && given.plan.trim() !== ""
      ? given.plan.trim()
      : undefined;
  } catch {
    return undefined; // a sentence that begins with a brace
  }
}

function tooLong(what: string, text: string): string {
  return `${what} has ${text.length} characters; at most ${PLAN_MAX_CHARS} are possible. Leave details to files.`;
}
