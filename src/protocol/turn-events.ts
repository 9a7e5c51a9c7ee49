/** What happens in a turn: its input, what the model writes, what it costs, and how it ends. */
import { z } from "zod";
import { inputBlock } from "./content.ts";
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
    queued: queuedId.optional().describe("The InputQueued that it delivers."),
  }).describe("A turn began with this input."),
  InputQueued: wire({
    content: z.array(inputBlock),
    by: idSchema(ClientId),
    allowed_by: wire({
      ids: z.array(idSchema(TokenId)).min(1).describe("Its id, then those of the tokens that it comes from."),
      until: z.string().describe("Its end."),
    })
      .optional()
      .describe("The capability token that it came with, which has to hold when its turn comes."),
  }).describe(
    "An input waits for its turn, which is the one whose TurnStarted has the id of this event in queued. Feature: queue_input.",
  ),
  InputRefused: wire({
    queued: queuedId,
    by: idSchema(ClientId),
    reason: z.string().describe("A reason code: TokenRevoked, TokenExpired, TokenInvalid or InputLeftBehind."),
    message: z.string(),
  }).describe(
    "An input that waited does not begin a turn: its token does not hold any more, or it waited in the session that this one was copied from. Feature: queue_input.",
  ),
  TurnSteered: wire({ turn, step, content: z.array(inputBlock), by: idSchema(ClientId) }).describe(
    "Somebody told the running turn something while this step ran; the model reads it at the next one. Feature: steer_turn.",
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
    waited_ms: durationMs.describe("Since the model was asked, or since the last piece of its answer."),
    left_ms: durationMs.describe("Without a sign of the model the step ends after this."),
  }).describe("The model has not written anything for a while: first after 10 s, then every 15 s."),
  Reprompted: wire({ turn, step, text: z.string(), source: where }).describe(
    "The agent wanted to stop and was sent back to work with this text.",
  ),
  TurnEnded: wire({
    turn,
    outcome: turnOutcome,
    reason: z.string().optional().describe("A reason code unless the outcome is answered."),
    steps: z.number().int().nonnegative(),
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent when no price is known."),
    duration_ms: durationMs,
    labels: labels.optional().describe("Of all that the session holds, this turn included; absent when none."),
    plan_mode: z.boolean().optional().describe("True when the session is in plan mode; absent when not."),
    queued: z.array(queuedId).optional().describe("Inputs that still wait, oldest first; absent when none."),
    session_total: total.optional().describe("What all turns of the session have used together."),
    tree_total: total
      .optional()
      .describe("What the session and all its delegates, at every depth, have used together; absent when it had none."),
  }).describe("The turn is over; exactly one for each TurnStarted."),
  TurnLost: wire({ turn, reason: z.string(), message: z.string() }).describe(
    "The log failed during the turn, so that no event of it says how it ended. Told to attached clients; not in the log.",
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
  CompactionTriggered: wire({ turn, boundary: z.number().int().nonnegative(), summary: z.string() }).describe(
    "History up to the boundary event is replaced by the summary in later requests.",
  ),
  CostIncremented: wire({
    turn,
    step,
    provider: z.string(),
    model: z.string(),
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent when no price is known."),
  }).describe("A model call was tallied."),
  MetricsCounted: wire({ turn, counters: z.record(z.string(), z.number()) }).describe(
    "Counters of the project's scripts that the turn has changed, as they are now.",
  ),
  BudgetLeft: wire({ turn, budgets: z.array(wire(budgetLine)) }).describe(
    "What is left of each budget at the end of a turn. Not there when none is set.",
  ),
  BudgetWarning: wire({ turn, ...budgetLine }).describe("Less than a fifth of a budget is left."),
  Cancelled: wire({
    turn,
    by: idSchema(ClientId).optional(),
    reason: z
      .enum(["user", "budget", "shutdown", "timeout", "parent"])
      .describe("timeout and parent: of a delegate, whose time was up or whose parent has ended."),
  }).describe("A turn was cancelled."),
  Error: wire({
    turn: turn.optional(),
    step: step.optional(),
    call_id: callId.optional(),
    reason: z.string().describe("A stable code from the reasons table, or Custom:<namespace>:<code>."),
    message: z.string(),
    terminal: z
      .boolean()
      .describe("True ends the turn. False voids what its step has written so far; it is tried again."),
    retry_after_ms: z.number().nonnegative().optional(),
    retry: wire({ attempt: z.int().positive(), of: z.int().positive() })
      .optional()
      .describe("Which retry comes next, and how many there may be."),
  }).describe("Something failed."),
} as const;
