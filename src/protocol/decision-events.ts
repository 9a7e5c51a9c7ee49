/** Who decided what about a call: rules, people, hooks, the list of hosts. */
import { z } from "zod";
import { decision } from "./command-fields.ts";
import {
  attrs,
  callId,
  confinement,
  delegate,
  durationMs,
  judgement,
  sha256,
  step,
  toolClass,
  turn,
  where,
} from "./event-fields.ts";
import { ApprovalId, ClientId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

export const decisionEvents = {
  CallJudged: wire({
    turn,
    step,
    call_id: callId,
    name: z.string(),
    judged: judgement,
  }).describe("A call was refused, or a person will be asked. For an allowed call, ToolIntent has these fields."),
  PermissionRequested: wire({
    turn,
    call_id: callId,
    name: z.string(),
    label: z.string(),
    args: z.unknown(),
    summary: z.string().describe("One line a person can decide on."),
    reason: z.string().describe("Why it asks: the rule or default, and its source."),
    request_id: callId.optional().describe("The id that an answer refers to: that of the call."),
    action: z.string().optional().describe("The action: the canonical name of the tool."),
    scope: z.string().optional().describe("Where: path:src/a.ts, host:example.com, folder:. for a command, or call."),
    class: toolClass
      .optional()
      .describe("The severity: that of the tool, or sensitive for a command with network effects."),
    expires_at: z.iso.datetime().optional().describe("If nobody answers by then, the call is denied."),
    argv_glob: z.string().optional().describe("The rule that allow_argv_glob would add."),
    delegate: delegate.optional().describe("The agent that asks, if it is not the root agent."),
    confinement: confinement
      .optional()
      .describe("Where the command would run if it is allowed; absent for other tools."),
    confinement_text: z.string().optional().describe("What that confinement can reach, in one line for a person."),
    steering: z.array(z.string()).optional().describe("Steering files that the call would change."),
    offers: z
      .array(decision)
      .optional()
      .describe("The answers that are possible here; any other allow counts as allow_once. Absent: all of them."),
  }).describe("A call waits for an answer."),
  PermissionAnswered: wire({
    turn,
    call_id: callId,
    decision,
    by: z.string().describe("The client that answered, or the policy that decided because nobody could."),
    rule: z.string().optional().describe("The session rule that the answer added."),
    reason: z.string().optional(),
    approval: wire({
      id: idSchema(ApprovalId),
      scope: z.enum(["call", "argv_glob", "tool"]),
      expires_at: z.iso.datetime(),
      bound_to: sha256.describe("Hash of the arguments and the state of everything they name."),
    })
      .optional()
      .describe(
        "The approval that an allow creates. For a call it is single-use, and the engine checks it before the call runs.",
      ),
  }).describe("A permission request was answered."),
  AnswerTooLate: wire({
    turn,
    call_id: callId,
    decision,
    by: idSchema(ClientId).describe("The client that answered."),
  }).describe("Somebody answered a permission request that was already settled. The answer has no effect."),
  QuestionAsked: wire({
    turn,
    call_id: callId,
    question: z.string(),
    options: z.array(z.string()).optional(),
    delegate: delegate.optional().describe("The agent that asks, if it is not the root agent."),
  }).describe("The model asks the person something. Feature: ask_user."),
  QuestionAnswered: wire({
    turn,
    call_id: callId,
    answer: z.string(),
    by: idSchema(ClientId).describe("The client that answered."),
  }).describe(
    "A person answered a QuestionAsked. If nobody answers in time, this event is missing. Feature: ask_user.",
  ),
  RuleChanged: wire({
    rule: z.string(),
    change: z.enum(["revoked", "promoted"]),
    by: idSchema(ClientId),
    source: where.optional().describe("The file that now has a promoted rule."),
  }).describe("A rule of the session was removed, or saved permanently."),
  HooksAsked: wire({
    turn: turn.optional(),
    step: step.optional(),
    call_id: callId.optional(),
    event: z.string().describe("Canonical name of the lifecycle event."),
    depth: z.number().int().nonnegative(),
    decisions: z.array(
      wire({
        hook: z.string(),
        source: where,
        action: z
          .enum(["allow", "block", "modify", "failed"])
          .describe("failed: it raised an error, timed out or returned something invalid."),
        reason: z.string().optional(),
        duration_ms: durationMs,
      }),
    ),
    blocked: z.boolean(),
    attrs: attrs.optional(),
  }).describe("The hooks that ran for a lifecycle event, in order. Absent if none did."),
  HookIntent: wire({
    turn: turn.optional(),
    step: step.optional(),
    call_id: callId.optional(),
    event: z.string().describe("Canonical name of the lifecycle event."),
    hook: z.string(),
    source: where,
    port: z.enum(["connect"]).describe("Sending is the only effect that a hook can have."),
    target: z.string(),
  }).describe("A hook is about to have an effect. The log has this event before the effect happens."),
  HookTimeout: wire({ turn: turn.optional(), hook: z.string(), event: z.string(), timeout_ms: durationMs }).describe(
    "A hook missed its deadline.",
  ),
  HookError: wire({
    turn: turn.optional(),
    hook: z.string(),
    event: z.string(),
    message: z.string(),
    exit_code: z.number().int().optional(),
  }).describe("A hook failed."),
  NetworkJudged: wire({
    turn: turn.optional(),
    call_id: callId.optional(),
    host: z.string(),
    port: z.number().int().optional(),
    policy: z.enum(["allowed", "denied"]),
    reason: z.string().optional(),
  }).describe("A tool, a script or a sandboxed command tried to reach a host."),
  NetworkConnection: wire({
    connection: z.number().int().positive().describe("The same on both events of a connection."),
    host: z.string(),
    port: z.number().int().positive(),
    state: z.enum(["opened", "refused", "closed"]).describe("The log has opened before the connection is made."),
    why: z.string().optional().describe("Why it was refused or closed."),
    bytes_sent: z.number().int().nonnegative().optional(),
    bytes_received: z.number().int().nonnegative().optional(),
    duration_ms: durationMs.optional(),
  }).describe("A command in a sandbox with a domain list asked the egress proxy for a connection."),
} as const;
