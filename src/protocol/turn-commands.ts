/** Commands that start, steer and stop turns, and what the next step runs with. */
import { row } from "./command-row.ts";

export const turnCommands = {
  SendInput: row({
    text: "Starts a turn. Refused with TurnInProgress while one is running.",
    params: ({ session, content, skill }) => ({ session, content, skill }),
    reply: ({ turnId }) => ({ turn: turnId.describe("The turn that it started.") }),
    scope: "session",
    route: "POST /v1/sessions/{id}/input",
    rpc: "turn.start",
    mcpTool: "harness.run_agent_with_shell_access",
  }),
  QueueInput: row({
    text:
      "Queues an input in the log until the running turn has ended, then starts one turn with it, also after a restart. " +
      "If no turn runs, it starts at once.",
    params: ({ session, content, skill }) => ({ session, content, skill }),
    scope: "session",
    feature: "queue_input",
    route: "POST /v1/sessions/{id}/input",
    rpc: "turn.queue",
    mcpTool: "harness.queue_agent_with_shell_access",
  }),
  WithdrawInput: row({
    text: "Takes back a queued input, which then starts no turn. Refused with InputNotQueued once its turn begins.",
    params: ({ session, queuedInput }) => ({ session, queued: queuedInput }),
    scope: "session",
    humanOnly: "take back a queued input",
    feature: "withdraw_input",
    rpc: "turn.withdraw",
  }),
  SteerTurn: row({
    text: "Sends a message to the running turn; the model reads it at the next step. Refused with NoTurnRunning if no turn runs.",
    params: ({ session, content }) => ({ session, content }),
    scope: "session",
    feature: "steer_turn",
    route: "POST /v1/sessions/{id}/input",
    rpc: "turn.steer",
    mcpTool: "harness.steer_agent_with_shell_access",
  }),
  CancelTurn: row({
    text: "Cancels the running turn; does nothing if no turn runs.",
    params: ({ session }) => ({ session }),
    scope: "session",
    route: "POST /v1/sessions/{id}/cancel",
    rpc: "turn.cancel",
  }),
  RunShellCommand: row({
    text:
      "Runs a person's own command in the workspace confinement, without a question, as a turn that asks no model. " +
      "The next turn reads its output. Refused with TurnInProgress while a turn runs.",
    params: ({ session, shellCommand }) => ({ session, command: shellCommand }),
    reply: ({ turnId }) => ({ turn: turnId.describe("The turn that runs it.") }),
    scope: "session",
    humanOnly: "run a command without a question",
    feature: "shell_commands",
    rpc: "shell.run",
  }),
  CompactSession: row({
    text:
      "Compacts the conversation now, in a turn without input. Refused with TurnInProgress while a turn is running; the turn ends " +
      "with NothingToCompact if the conversation is too short.",
    params: ({ z, session }) => ({
      session,
      focus: z.string().max(2000).optional().describe("What the summary must keep above all."),
    }),
    reply: ({ turnId }) => ({ turn: turnId.describe("The turn in which the conversation is compacted.") }),
    scope: "session",
    feature: "compaction",
    route: "POST /v1/sessions/{id}/compact",
    rpc: "session.compact",
  }),
  SetModel: row({
    text: "Uses another model from the next step on.",
    params: ({ z, session }) => ({
      session,
      model: z.string().min(1).describe("provider:name, or a name from the models list."),
    }),
    scope: "session",
    route: "POST /v1/sessions/{id}/model",
    rpc: "model.set",
  }),
  EnterPlanMode: row({
    text: "Allows only read-only calls from now on.",
    params: ({ session }) => ({ session }),
    scope: "session",
    feature: "plan_mode",
    route: "POST /v1/sessions/{id}/plan-mode",
    rpc: "plan.enter",
  }),
  ExitPlanMode: row({
    text: "Approves or rejects the plan that the agent proposed last, and leaves plan mode if it is approved.",
    params: ({ z, session, plan, callId }) => ({
      session,
      call_id: callId
        .optional()
        .describe("The call of the plan that was shown. If another one waits by now, the answer is refused."),
      approve: z.boolean().describe("False keeps plan mode on."),
      plan: plan.optional().describe("The text to agree on, instead of the one that was proposed."),
      reason: z.string().max(2000).optional().describe("The model reads it if the plan is rejected while it waits."),
    }),
    scope: "session",
    humanOnly: "approve a plan",
    feature: "plan_mode",
    route: "POST /v1/sessions/{id}/plan-mode",
    rpc: "plan.exit",
  }),
  ClosePlan: row({
    text: "Says that the agreed plan is done or dropped; later requests no longer have it.",
    params: ({ z, session }) => ({ session, as: z.enum(["done", "dropped"]) }),
    scope: "session",
    humanOnly: "close a plan",
    feature: "plan_mode",
    rpc: "plan.close",
  }),
  SetMode: row({
    text: "Sets the mode: ask, plan (only read-only calls run), or accept-edits (Edit and Write run unasked; steering files still ask).",
    params: ({ session, mode }) => ({ session, mode }),
    scope: "session",
    humanOnly: "set the mode",
    feature: "modes",
    rpc: "mode.set",
  }),
};
