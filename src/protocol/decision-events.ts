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
  }).describe("A call was refused, or somebody is asked next. One that was allowed has this in its ToolIntent."),
  PermissionRequested: wire({
    turn,
    call_id: callId,
    name: z.string(),
    label: z.string(),
    args: z.unknown(),
    summary: z.string().describe("One line a person can decide on."),
    reason: z.string().describe("Why it asks: the rule or default, and where it is written."),
    request_id: callId.optional().describe("What an answer names: the id of the call."),
    action: z.string().optional().describe("What would be done: the canonical name of the tool."),
    scope: z.string().optional().describe("Where: path:src/a.ts, host:example.com, folder:. for a command, or call."),
    class: toolClass
      .optional()
      .describe("How grave it is: that of the tool, and sensitive for a command with effects on the network."),
    expires_at: z.iso.datetime().optional().describe("Without an answer by then it is denied."),
    argv_glob: z.string().optional().describe("The rule that allow_argv_glob would add."),
    delegate: delegate.optional().describe("Who asks, when it is not the root agent."),
    confinement: confinement
      .optional()
      .describe("Where the command would run if it is allowed; absent for other tools."),
    confinement_text: z.string().optional().describe("What that confinement can reach, in one line for a person."),
    steering: z.array(z.string()).optional().describe("Steering files that the call would change."),
    offers: z
      .array(decision)
      .optional()
      .describe("The answers that count here; any other allow is taken as allow_once. Absent: all of them."),
  }).describe("A call waits for an answer."),
  PermissionAnswered: wire({
    turn,
    call_id: callId,
    decision,
    by: z.string().describe("The client that answered, or the policy that did when nobody could."),
    rule: z.string().optional().describe("The session rule that the answer added."),
    reason: z.string().optional(),
    approval: wire({
      id: idSchema(ApprovalId),
      scope: z.enum(["call", "argv_glob", "tool"]),
      expires_at: z.iso.datetime(),
      bound_to: sha256.describe("Over the arguments and the state of everything they name."),
    })
      .optional()
      .describe("What a yes has given: single use for a call; dispatch checks it."),
  }).describe("A permission request was answered."),
  AnswerTooLate: wire({
    turn,
    call_id: callId,
    decision,
    by: idSchema(ClientId).describe("The client that answered."),
  }).describe("Somebody answered a permission request that was settled already. It changes nothing."),
  QuestionAsked: wire({
    turn,
    call_id: callId,
    question: z.string(),
    options: z.array(z.string()).optional(),
    delegate: delegate.optional().describe("Who asks, when it is not the root agent."),
  }).describe("The model asks the person something. Feature: ask_user."),
  QuestionAnswered: wire({
    turn,
    call_id: callId,
    answer: z.string(),
    by: idSchema(ClientId).describe("The client that answered."),
  }).describe("A person answered a QuestionAsked. A question that nobody answers in time has none. Feature: ask_user."),
  RuleChanged: wire({
    rule: z.string(),
    change: z.enum(["revoked", "promoted"]),
    by: idSchema(ClientId),
    source: where.optional().describe("Where a promoted rule is written now."),
  }).describe("A rule of the session was taken back, or kept for good."),
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
          .describe("failed: it raised, timed out or made no sense."),
        reason: z.string().optional(),
        duration_ms: durationMs,
      }),
    ),
    blocked: z.boolean(),
    attrs: attrs.optional(),
  }).describe("The hooks of a lifecycle event that wanted to be asked, in order. Not there when none did."),
  HookIntent: wire({
    turn: turn.optional(),
    step: step.optional(),
    call_id: callId.optional(),
    event: z.string().describe("Canonical name of the lifecycle event."),
    hook: z.string(),
    source: where,
    port: z.enum(["connect"]).describe("A hook changes nothing; sending is the one effect it can have."),
    target: z.string(),
  }).describe("A hook is about to have an effect; durable before it happens."),
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
  }).describe("A tool, a script or a sandboxed command wanted to reach a host."),
  NetworkConnection: wire({
    connection: z.number().int().positive().describe("The same on both events of a connection."),
    host: z.string(),
    port: z.number().int().positive(),
    state: z.enum(["opened", "refused", "closed"]).describe("opened is durable before the connection is made."),
    why: z.string().optional().describe("Why it was refused or cut."),
    bytes_sent: z.number().int().nonnegative().optional(),
    bytes_received: z.number().int().nonnegative().optional(),
    duration_ms: durationMs.optional(),
  }).describe("A command in a sandbox with a domain list asked the egress proxy for a connection."),
} as const;
