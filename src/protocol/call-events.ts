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
    args: z.unknown().describe("As the model wrote them; a string if they are not JSON."),
    class: toolClass.optional().describe("Absent for an unknown tool."),
    parent: callId.optional().describe("The call that made this one, if the model did not make it itself."),
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
    reason: z.string().optional().describe("A reason code if the call was refused or failed."),
    duration_ms: durationMs,
    memoized: z.boolean().optional().describe("The result of an identical earlier call of this turn."),
    labels: labels.optional().describe("The labels of its content; absent if there are none."),
    parent: callId.optional(),
    attrs: attrs.optional(),
    judged_on: judgedOn
      .optional()
      .describe("What the decision about the call was based on; absent if nothing decided."),
  }).describe("A tool call ended; the model gets this content."),
  ToolIntent: wire({
    turn,
    step,
    call_id: callId,
    name: z.string(),
    class: toolClass,
    args_hash: sha256.describe("Hash of the canonical JSON of the arguments that run."),
    policy_version: z.string().optional().describe("Hash of the rules and files in effect."),
    allowed_by: judgement.optional().describe("What allowed it to run."),
  }).describe(
    "A call was allowed and is about to run. If the call can change things, the log has this event before it runs.",
  ),
  ToolOutcome: wire({
    turn,
    call_id: callId,
    outcome: callOutcome,
    result_hash: sha256.describe("Hash of the canonical JSON of the tool's result."),
    effects: z
      .array(
        wire({
          port: z.enum(["process", "write", "move", "remove", "connect", "server", "model", "memory"]),
          target: z.string(),
        }),
      )
      .optional()
      .describe("Its effects in order: each program, each changed file, each host, each changed memory."),
    more_effects: z.number().int().positive().optional().describe("Number of effects that are not listed."),
  }).describe("A call with a ToolIntent has ended. If this event is missing, the call was interrupted."),
  OrphanedCall: wire({
    turn,
    call_id: callId,
    name: z.string(),
    args: z.unknown(),
    started_at: z.iso.datetime(),
  }).describe(
    "A call that can change things was interrupted, and nobody knows how far it got. The session waits for ResolveOrphan.",
  ),
  OrphanResolved: wire({
    turn,
    call_id: callId,
    resolution: z.enum(["failed", "succeeded", "abort"]),
    by: z.string(),
    note: z.string().optional(),
  }).describe("Somebody resolved an orphaned call."),
  WorkspaceRestored: wire({
    action: z.enum(["undo", "redo"]),
    by: z.string().describe("The client that requested it, or the name of the command."),
    turns: z.array(turn),
    calls: z.array(callId).describe("The calls whose changes were undone or redone."),
    restored: z.array(wire({ path: z.string(), what: z.string() })).describe("At most 200 paths of the workspace."),
    conflicts: z.array(pathAndReason).describe("Changed by somebody else since, so left unchanged; at most 200."),
    failed: z.array(pathAndReason).describe("Could not be restored; at most 200."),
    counts: wire({ restored: count, conflicts: count, failed: count }).describe("Totals for all paths."),
  }).describe("Changes of earlier calls were undone or redone. The model reads it at the next turn. Feature: undo."),
  DelegationStarted: wire({
    turn,
    call_id: callId,
    session: idSchema(SessionId).describe("The delegate's session, with its own log that is linked to this one."),
    agent: z.string().describe("Empty if it has no name."),
    task: z.string(),
    mode: z.enum(["sync", "async"]),
    depth: depth.describe("The depth of the delegate."),
    model: z.string(),
    tools: z.array(z.string()),
    max_steps: z.number().int().positive(),
    timeout_ms: durationMs,
  }).describe("A delegate is about to start."),
  DelegationVerified: wire({
    turn,
    call_id: callId,
    session: idSchema(SessionId),
    attempt: z.number().int().positive(),
    verified: z.boolean(),
    reason: z.string().optional().describe("Why it was not accepted."),
    broken: z.boolean().optional().describe("The verifier itself failed, so the delegation fails."),
  }).describe("The claims of a delegate were compared with the facts."),
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
    cost_usd: z.number().nonnegative().optional().describe("Absent if the price is unknown."),
    duration_ms: durationMs,
    tree_total: total
      .optional()
      .describe("Total usage of it and all delegates below it; absent if there were none below, or it used nothing."),
    cut_off: z
      .array(wire({ session: idSchema(SessionId), call_id: callId, name: z.string() }))
      .optional()
      .describe("Its calls, or calls of delegates below it, that were interrupted and may have changed something."),
    attrs: attrs.optional(),
  }).describe("A delegate has finished and its session has ended. interrupted: the program stopped while it worked."),
} as const;
