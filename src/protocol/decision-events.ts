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

const formField = wire({
  name: z.string(),
  type: z
    .enum(["text", "number", "integer", "boolean", "choice", "choices"])
    .describe("choice: one of the options; choices: a list of them."),
  title: z.string().optional(),
  description: z.string().optional(),
  required: z.boolean(),
  options: z.array(wire({ value: z.string(), title: z.string().optional() })).optional(),
  format: z.enum(["email", "uri", "date", "date-time"]).optional().describe("The form that a text must have."),
  min: z.number().optional().describe("The least number, characters or choices."),
  max: z.number().optional().describe("The most."),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
});

export type FormField = z.infer<typeof formField>;

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
    tool_rule: z.string().optional().describe("The rule that allow_tool would add."),
    before: z
      .string()
      .optional()
      .describe(
        "What the file holds that the call would replace. Absent for a new file, one that is not a short text, and one that the agent may not read.",
      ),
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
    args: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("The person changed the call: with these arguments it is judged again and runs."),
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
    plan: z
      .string()
      .optional()
      .describe(
        'A plan, as Markdown, that waits for approval; question has it as well. The answer is the word approve, or a JSON object {"plan": "…"} with the text as the person edited it. Anything else rejects the plan, and the model reads it.',
      ),
    delegate: delegate.optional().describe("The agent that asks, if it is not the root agent."),
    server: z.string().optional().describe("The MCP server that asks during the call. Absent: the model asks."),
    form: z
      .array(formField)
      .optional()
      .describe(
        "The fields of a form. The answer is a JSON object with a value for each field, or the word decline. A form with one field also takes the value alone.",
      ),
    url: z
      .string()
      .optional()
      .describe(
        "An address that the server wants the person to open. Clients show all of it and never open it unasked.",
      ),
  }).describe("The model or an MCP server asks the person something. Feature: ask_user."),
  QuestionAnswered: wire({
    turn,
    call_id: callId,
    answer: z.string(),
    by: idSchema(ClientId).describe("The client that answered."),
  }).describe(
    "A person answered a QuestionAsked. If nobody answers in time, this event is missing. Feature: ask_user.",
  ),
  AckRequested: wire({
    turn,
    call_id: callId.describe("The id that an answer refers to."),
    file: z.string().describe("Relative to the project with /, absolute outside it."),
    class: z
      .string()
      .regex(/^[a-zA-Z]{1,32}$/)
      .describe("The kind of file: config, tool, hook, instructions, skill, mcp, …"),
    name: z.string().describe("What people call such a file."),
    power: z.string().describe("What such a file can do once it is acked."),
    change: z.enum(["new", "changed", "removed"]).describe("What happened to it since its ack."),
    sha256: sha256.optional().describe("The content that the answer is for. Absent for a removed file."),
    bytes: z.number().int().nonnegative().describe("Of the content that the answer is for."),
    lines: z.number().int().nonnegative(),
    is_optional: z.boolean().describe("A denied optional file is left out; any other keeps waiting."),
    acked: wire({ sha256, at: z.iso.datetime() }).optional().describe("The version that was acked last."),
    denied_at: z.iso.datetime().optional().describe("When an earlier content of it was denied."),
    change_class: z
      .string()
      .optional()
      .describe("The gravest part of the change: metadata, prose, code-adjacent, executable or endpoint."),
    parts: z.array(z.string()).optional().describe("What changed: keys of the frontmatter, the text below it."),
    delegate: delegate.optional().describe("The agent whose step waits, if it is not the root agent."),
  }).describe(
    "A file of the project waits for an ack, and a person is asked. DescribeAck has both texts. AckSettled always follows. Feature: acks.",
  ),
  AckSettled: wire({
    turn,
    call_id: callId,
    file: z.string(),
    sha256: sha256.optional(),
    outcome: z
      .enum(["accepted", "denied", "changed", "unanswered"])
      .describe(
        "changed: the file is no longer what was shown, so the answer was refused; another AckRequested follows. unanswered: nothing is kept and the file keeps waiting.",
      ),
    by: idSchema(ClientId).optional().describe("The client that answered."),
  }).describe("What an AckRequested has come to. Feature: acks."),
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
        permission: z
          .enum(["allow", "ask"])
          .optional()
          .describe("What a shell hook said about the permission question. Rules decide whether allow counts."),
        ran: wire({
          exit_code: z.number().int().nullable().describe("Null if a signal ended it."),
          signal: z.string().optional(),
          output_hash: sha256.describe("Of what it printed, up to 64 KB."),
          truncated: z.boolean().optional().describe("True if it printed more."),
        })
          .optional()
          .describe("The receipt of a shell hook's command."),
        message: z.string().optional().describe("What a shell hook wants the person to read."),
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
    port: z
      .enum(["connect", "process"])
      .describe("A script can only send; process: the command of a shell hook is about to run."),
    target: z.string(),
    confinement: confinement.optional().describe("Where the command runs."),
  }).describe("A hook is about to have an effect. The log has this event before the effect happens."),
  LookupIntent: wire({
    by: idSchema(ClientId).describe("The client that a person types in."),
    name: z.string().describe("The tool by whose rules it was judged."),
    port: z.enum(["process", "server"]).describe("process: the search that lists files; server: an MCP server."),
    target: z.string(),
    policy_version: z.string().describe("Hash of the rules and files in effect."),
    allowed_by: judgement,
  }).describe("Something is about to be looked up for CompleteInput. The log has this event before it happens."),
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
  }).describe(
    "A command in a sandbox with a domain list asked the egress proxy for a connection, or the session reached an MCP server on the network.",
  ),
} as const;
