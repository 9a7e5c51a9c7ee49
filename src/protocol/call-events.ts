/** What becomes of tool calls: begun, allowed, done, cut off, taken back, handed to a delegate. */
import { z } from "zod";
import { toolOutputBlock } from "./content.ts";
import {
  attrs,
  block,
  callId,
  callOutcome,
  count,
  depth,
  durationMs,
  judgedOn,
  judgement,
  labels,
  pathAndReason,
  sha256,
  step,
  toolClass,
  total,
  turn,
  usage,
} from "./event-fields.ts";
import { SessionId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

export const callEvents = {
  ToolCallStarted: wire({
    turn,
    step,
    block,
    call_id: callId,
    name: z.string().describe("Canonical name."),
    label: z.string().describe("The name people see."),
    args: z.unknown().describe("As the model gave them; a string when they were not JSON."),
    class: toolClass.optional().describe("Absent for an unknown tool."),
    parent: callId.optional().describe("The call that made this one, when it was not the model."),
  }).describe("A tool call entered the tool chain."),
  ToolCallProgress: wire({ turn, call_id: callId, text: z.string() }).describe("Partial output of a running call."),
  ToolResult: wire({
    turn,
    step,
    call_id: callId,
    name: z.string(),
    content: z.array(toolOutputBlock),
    is_error: z.boolean(),
    outcome: callOutcome,
    reason: z.string().optional().describe("A reason code when the call was refused or failed."),
    duration_ms: durationMs,
    memoized: z.boolean().optional().describe("The result of an identical earlier call of this turn."),
    labels: labels.optional().describe("What its content is; absent when neither."),
    parent: callId.optional(),
    attrs: attrs.optional(),
    judged_on: judgedOn.optional().describe("What the decision about it rested on; absent when nothing judged it."),
  }).describe("A tool call ended; the content is what the model gets."),
  ToolIntent: wire({
    turn,
    step,
    call_id: callId,
    name: z.string(),
    class: toolClass,
    args_hash: sha256.describe("Of the canonical JSON of the arguments that run."),
    policy_version: z.string().optional().describe("Of the rules and files that were in force."),
    allowed_by: judgement.optional().describe("What let it run."),
  }).describe("A call was allowed and is about to run; for one that changes things this is durable before it does."),
  ToolOutcome: wire({
    turn,
    call_id: callId,
    outcome: callOutcome,
    result_hash: sha256.describe("Of the canonical JSON of what the tool gave back."),
    effects: z
      .array(wire({ port: z.enum(["process", "write", "move", "remove", "connect"]), target: z.string() }))
      .optional()
      .describe("What it did to the world, in order: each program, each changed file, each host."),
    more_effects: z.number().int().positive().optional().describe("Effects beyond those that are listed."),
  }).describe("A call that had a ToolIntent has ended; one without this was cut off."),
  OrphanedCall: wire({
    turn,
    call_id: callId,
    name: z.string(),
    args: z.unknown(),
    started_at: z.iso.datetime(),
  }).describe("A call that changes things was cut off; nobody knows how far it got. Waits for ResolveOrphan."),
  OrphanResolved: wire({
    turn,
    call_id: callId,
    resolution: z.enum(["failed", "succeeded", "abort"]),
    by: z.string(),
    note: z.string().optional(),
  }).describe("Somebody said what became of an orphaned call."),
  WorkspaceRestored: wire({
    action: z.enum(["undo", "redo"]),
    by: z.string().describe("The client that asked, or the command of the program."),
    turns: z.array(turn),
    calls: z.array(callId).describe("Whose changes were taken back or made again."),
    restored: z.array(wire({ path: z.string(), what: z.string() })).describe("At most 200 paths of the workspace."),
    conflicts: z.array(pathAndReason).describe("Changed by somebody else since, and left as they are; at most 200."),
    failed: z.array(pathAndReason).describe("Could not be restored; at most 200."),
    counts: wire({ restored: count, conflicts: count, failed: count }).describe("Of all paths."),
  }).describe(
    "Changes of earlier calls were undone or redone; the model learns of it at the next turn. Feature: undo.",
  ),
  DelegationStarted: wire({
    turn,
    call_id: callId,
    session: idSchema(SessionId).describe("Of the delegate: its own log, linked to this one."),
    agent: z.string().describe("Empty for one without a name."),
    task: z.string(),
    mode: z.enum(["sync", "async"]),
    depth: depth.describe("Of the delegate."),
    model: z.string(),
    tools: z.array(z.string()),
    max_steps: z.number().int().positive(),
    timeout_ms: durationMs,
  }).describe("A delegate is about to work."),
  DelegationVerified: wire({
    turn,
    call_id: callId,
    session: idSchema(SessionId),
    attempt: z.number().int().positive(),
    verified: z.boolean(),
    reason: z.string().optional().describe("Why it was not accepted."),
    broken: z.boolean().optional().describe("The verifier itself failed: the delegation fails with it."),
  }).describe("What a delegate claims was held against the facts."),
  DelegationEnded: wire({
    turn,
    call_id: callId,
    session: idSchema(SessionId),
    agent: z.string(),
    mode: z.enum(["sync", "async"]),
    status: z.enum(["ok", "failed", "cancelled", "timeout", "interrupted"]),
    reason: z.string().optional().describe("A reason code unless the status is ok."),
    steps: count,
    tool_calls: count,
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent when no price is known."),
    duration_ms: durationMs,
    tree_total: total
      .optional()
      .describe(
        "What it and all delegates below it have used together; absent when there were none below, or it used nothing.",
      ),
    cut_off: z
      .array(wire({ session: idSchema(SessionId), call_id: callId, name: z.string() }))
      .optional()
      .describe(
        "Calls of it, or of delegates below it, that may have changed something and that the program stopped in.",
      ),
    attrs: attrs.optional(),
  }).describe("A delegate is done and its session is over. interrupted: the program stopped while it worked."),
} as const;
