/** What happens in a turn: its input, what the model writes, what it costs, and how it ends. */
import { z } from "zod";
import { compaction } from "./compaction-event.ts";
import { inputBlock, toolOutputBlock } from "./content.ts";
import {
  block,
  callId,
  durationMs,
  labels,
  queuedId,
  step,
  total,
  turn,
  turnOutcome,
  usage,
  where,
} from "./event-fields.ts";
import { ClientId, TokenId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

/** One budget, and how much of it is used. */
const budgetLine = {
  scope: z.enum(["turn", "session", "tree"]),
  kind: z.enum(["cost_usd", "tokens", "steps", "calls", "wall_ms"]),
  used: z.number().nonnegative(),
  limit: z.number().nonnegative(),
};

export const turnEvents = {
  TurnStarted: wire({
    turn,
    content: z.array(inputBlock),
    model: z.string(),
    queued: queuedId.optional().describe("The InputQueued event that it delivers."),
    own_command: z
      .literal(true)
      .optional()
      .describe("A person's own command: the turn runs it and asks no model. Feature: shell_commands."),
    refused: z
      .literal(true)
      .optional()
      .describe("A hook refused the input. No model reads it, also not in a later turn."),
  }).describe("A turn began with this input."),
  InputQueued: wire({
    content: z.array(inputBlock),
    by: idSchema(ClientId),
    allowed_by: wire({
      ids: z.array(idSchema(TokenId)).min(1).describe("Its id, then the ids of the tokens that it was created with."),
      until: z.string().describe("Its end."),
    })
      .optional()
      .describe("The capability token that sent it, which must still be valid when the turn starts."),
  }).describe(
    "An input was queued. Its turn is the one whose TurnStarted has the id of this event in queued. Feature: queue_input.",
  ),
  InputRefused: wire({
    queued: queuedId,
    by: idSchema(ClientId).describe("Who queued it; with InputWithdrawn, who took it back."),
    reason: z
      .string()
      .describe("A reason code: TokenRevoked, TokenExpired, TokenInvalid, InputLeftBehind or InputWithdrawn."),
    message: z.string(),
  }).describe(
    "A queued input does not start a turn: its token is no longer valid, it was queued in the session that this one was copied from, or a person took it back. Feature: queue_input.",
  ),
  TurnSteered: wire({ turn, step, content: z.array(inputBlock), by: idSchema(ClientId) }).describe(
    "Somebody sent a message to the running turn during this step; the model reads it at the next one. Feature: steer_turn.",
  ),
  ContextAdded: wire({
    turn: turn.optional().describe("Absent outside a turn: the next turn reads it."),
    origin: z.enum(["hook", "file", "command", "resource", "prompt", "session", "memory", "source"]),
    what: z
      .string()
      .describe(
        "The hook with its source, the path, the command, server:uri of a resource, a prompt as it is typed, the other session, the memory, or the context source.",
      ),
    content: z.array(toolOutputBlock),
    why: z.string().optional().describe("For a memory or a context source: why it was chosen."),
    in_prompt: z
      .literal(true)
      .optional()
      .describe("Part of the system prompt from now on, in place of what had the same origin and name."),
    by: idSchema(ClientId).optional().describe("The client that named it."),
    labels: labels
      .optional()
      .describe(
        "The labels that the other session held, or that the memory carries. This session holds them from now on.",
      ),
  }).describe(
    "Content from outside joined the conversation: the context of a hook, a file or a resource that an input mentions, a prompt of an MCP server, the output of a person's own command, a summary of another session, a memory, or a context source of the project. The model reads it as untrusted data.",
  ),
  TextDelta: wire({ turn, step, block, text: z.string() }).describe("The model wrote text."),
  ThinkingDelta: wire({
    turn,
    step,
    block,
    text: z.string(),
    provider: z.string(),
    data: z.unknown().optional().describe("On the last delta of a block: the opaque block to echo."),
  }).describe("The model reasoned."),
  ModelWaiting: wire({
    turn,
    step,
    waited_ms: durationMs.describe("Time since the request, or since the last piece of the answer."),
    left_ms: durationMs.describe("If the model stays silent, the step ends after this time."),
  }).describe("The model has not written anything for a while: first after 10 s, then every 15 s."),
  Reprompted: wire({ turn, step, text: z.string(), source: where }).describe(
    "The agent wanted to stop and was sent back to work with this text.",
  ),
  TurnEnded: wire({
    turn,
    outcome: turnOutcome,
    reason: z.string().optional().describe("A reason code, unless the outcome is answered."),
    steps: z.number().int().nonnegative(),
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent if the price is unknown."),
    duration_ms: durationMs,
    labels: labels.optional().describe("The labels of the session, including this turn; absent if there are none."),
    plan_mode: z.boolean().optional().describe("True when the session is in plan mode; absent when not."),
    queued: z
      .array(queuedId)
      .optional()
      .describe("Inputs that are still queued, oldest first; absent if there are none."),
    lasting: z
      .array(z.number().int().positive())
      .optional()
      .describe(
        "The ids of the events that still apply: the mode, the plan, the todos, background commands that run; absent if there are none.",
      ),
    session_total: total.optional().describe("Total usage of all turns of the session."),
    tree_total: total
      .optional()
      .describe("Total usage of the session and all its delegates, at every depth; absent if it had none."),
  }).describe("The turn has ended; exactly one for each TurnStarted."),
  TurnLost: wire({ turn, reason: z.string(), message: z.string() }).describe(
    "The log failed during the turn, so it has no event about its end. Sent to attached clients; not in the log.",
  ),
  TurnTiming: wire({
    turn,
    total_ms: durationMs,
    request_middleware_ms: durationMs,
    provider_ttfb_ms: durationMs.describe("First byte of the first step."),
    provider_total_ms: durationMs,
    store_write_ms: durationMs,
    tools: z.array(wire({ call_id: callId, name: z.string(), duration_ms: durationMs })),
  }).describe("Where the time of a turn went, as measured."),
  CompactionTriggered: compaction,
  CostIncremented: wire({
    turn,
    step,
    provider: z.string(),
    model: z.string(),
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent if the price is unknown."),
  }).describe("A model call was tallied."),
  MetricsCounted: wire({ turn, counters: z.record(z.string(), z.number()) }).describe(
    "Current values of the script counters that the turn changed.",
  ),
  BudgetLeft: wire({ turn, budgets: z.array(wire(budgetLine)) }).describe(
    "The rest of each budget at the end of a turn. Absent if no budget is set.",
  ),
  BudgetWarning: wire({ turn, ...budgetLine }).describe("Less than a fifth of a budget is left."),
  Cancelled: wire({
    turn,
    by: idSchema(ClientId).optional(),
    reason: z
      .enum(["user", "budget", "shutdown", "timeout", "parent"])
      .describe("timeout and parent are for delegates: its time was up, or its parent has ended."),
  }).describe("A turn was cancelled."),
  Error: wire({
    turn: turn.optional(),
    step: step.optional(),
    call_id: callId.optional(),
    reason: z.string().describe("A stable code from the reasons table, or Custom:<namespace>:<code>."),
    message: z.string(),
    terminal: z
      .boolean()
      .describe("True: the turn ends. False: the step is retried, and what it has written so far does not count."),
    retry_after_ms: z.number().nonnegative().optional(),
    retry: wire({ attempt: z.int().positive(), of: z.int().positive() })
      .optional()
      .describe("The number of the next retry, and the maximum."),
  }).describe("Something failed."),
} as const;
