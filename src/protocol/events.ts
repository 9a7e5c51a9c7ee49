/**
 * Every event the engine can publish, with its payload. What happened in a turn can be rebuilt from these alone:
 * `step` numbers the model calls of a turn from 1, `block` the content blocks of one response from 0.
 */
import { z } from "zod";
import { inputBlock, toolOutputBlock } from "./content.ts";
import { ApprovalId, CallId, ClientId, SessionId, TokenId, TurnId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

const turn = idSchema(TurnId);
const step = z.number().int().positive();
const block = z.number().int().nonnegative();
const callId = idSchema(CallId);
const durationMs = z.number().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const attrs = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe("Span attributes: what hooks and tools noted about it.");
const where = z.string().describe("Where it is written: file:line, a flag, or built-in.");

const judgement = wire({
  effect: z.enum(["allow", "ask", "deny"]),
  by: z
    .string()
    .describe("What decided: a rule, the quiet preset, a person, plan mode, tools_policy, a built-in rule."),
  source: where.optional(),
  why: z.string(),
  trail: z
    .array(wire({ stage: z.string(), name: z.string(), source: where, effect: z.string() }))
    .describe("Everything that was consulted, in order."),
});

/** What content is, besides its text: from outside, or not to get out. */
export const label = z.enum(["private", "untrusted"]);
const labels = z.array(label);

const total = wire({
  cost_usd: z.number().nonnegative(),
  tokens: z.number().int().nonnegative(),
  steps: z.number().int().nonnegative(),
  calls: z.number().int().nonnegative(),
});

const queuedId = z.number().int().positive().describe("The id of an InputQueued event.");
const found = z.record(z.string(), z.string().nullable());

/** Small: what a decision rested on besides the policy, so that another policy can be asked about the same call later. */
const judgedOn = wire({
  paths: found
    .optional()
    .describe(
      "Where paths led, each named by a hash: empty for as written, / for as it reads, null for out of the workspace.",
    ),
  looks: found.optional().describe("Other questions about the disk, each as a hash, and what was found."),
  labels: labels.optional().describe("What the session held."),
  plan_mode: z.boolean().optional(),
  repeated: z.boolean().optional().describe("The same call had been made over and over."),
  rules_changed: z.number().int().positive().optional().describe("Changes to the rules of the session until then."),
  args: z.unknown().optional().describe("What was judged, where a hook had changed the arguments."),
  subject: z.string().optional().describe("What rules were held against, for a tool that says so itself."),
  unsettled: z.boolean().optional().describe("A label was added while it was being judged."),
  allowed_by: wire({ by: z.string(), source: where.optional() }).optional().describe("Of a memoized call."),
});

const count = z.number().int().nonnegative();
const depth = z.number().int().nonnegative().describe("0 for the root agent.");
const delegate = wire({
  agent: z.string().describe("Empty for one without a name."),
  depth,
  parent: idSchema(SessionId),
});
const pathAndReason = wire({ path: z.string(), why: z.string() });

const usage = wire({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cache_read_tokens: z.number().int().nonnegative(),
  cache_write_tokens: z.number().int().nonnegative(),
});

/** How a turn ended. */
export const turnOutcome = z.enum(["answered", "yielded", "cancelled", "step_limit", "error"]);

/** How a tool call ended; `denied` and `not_executed` never reached the tool. */
export const callOutcome = z.enum(["ok", "error", "denied", "not_executed", "cancelled", "timeout"]);

export const toolClass = z.enum(["read_only", "mutating", "sensitive"]);

export const events = {
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
    reason: z.string().describe("A reason code: TokenRevoked, TokenExpired or TokenInvalid."),
    message: z.string(),
  }).describe("An input that waited does not begin a turn: its token does not hold any more. Feature: queue_input."),
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
  }).describe("Changes of earlier calls were undone or redone; the model is told at the next turn. Feature: undo."),
  TurnEnded: wire({
    turn,
    outcome: turnOutcome,
    reason: z.string().optional().describe("A reason code unless the outcome is answered."),
    steps: z.number().int().nonnegative(),
    usage,
    cost_usd: z.number().nonnegative().optional().describe("Absent when no price is known."),
    duration_ms: durationMs,
    labels: labels.optional().describe("Of all that the session holds, this turn included; absent when none."),
    queued: z.array(queuedId).optional().describe("Inputs that still wait, oldest first; absent when none."),
    session_total: total.optional().describe("What all turns of the session have used together."),
    tree_total: total
      .optional()
      .describe("What the session and all its delegates, at every depth, have used together; absent when it had none."),
  }).describe("The turn is over; exactly one for each TurnStarted."),
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
  PermissionRequested: wire({
    turn,
    call_id: callId,
    name: z.string(),
    label: z.string(),
    args: z.unknown(),
    summary: z.string().describe("One line a person can decide on."),
    reason: z.string().describe("Why it asks: the rule or default, and where it is written."),
    argv_glob: z.string().optional().describe("The rule that allow_argv_glob would add."),
    delegate: delegate.optional().describe("Who asks, when it is not the root agent."),
  }).describe("A call waits for an answer."),
  PermissionAnswered: wire({
    turn,
    call_id: callId,
    decision: z.enum(["allow_once", "allow_argv_glob", "allow_tool", "deny"]),
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
  CallJudged: wire({
    turn,
    step,
    call_id: callId,
    name: z.string(),
    judged: judgement,
  }).describe("A call was refused, or somebody is asked next. One that was allowed has this in its ToolIntent."),
  NetworkJudged: wire({
    turn: turn.optional(),
    call_id: callId.optional(),
    host: z.string(),
    port: z.number().int().optional(),
    policy: z.enum(["allowed", "denied"]),
    reason: z.string().optional(),
  }).describe("A tool, a script or a sandboxed command wanted to reach a host."),
  RuleChanged: wire({
    rule: z.string(),
    change: z.enum(["revoked", "promoted"]),
    by: idSchema(ClientId),
    source: where.optional().describe("Where a promoted rule is written now."),
  }).describe("A rule of the session was taken back, or kept for good."),
  BudgetLeft: wire({
    turn,
    budgets: z.array(
      wire({
        scope: z.enum(["turn", "session", "tree"]),
        kind: z.enum(["cost_usd", "tokens", "steps", "calls", "wall_ms"]),
        used: z.number().nonnegative(),
        limit: z.number().nonnegative(),
      }),
    ),
  }).describe("What is left of each budget at the end of a turn. Not there when none is set."),
  BudgetWarning: wire({
    turn,
    scope: z.enum(["turn", "session", "tree"]),
    kind: z.enum(["cost_usd", "tokens", "steps", "calls", "wall_ms"]),
    used: z.number().nonnegative(),
    limit: z.number().nonnegative(),
  }).describe("Less than a fifth of a budget is left."),
  ProjectChanged: wire({
    version: sha256.describe("Of all files of the project together."),
    files: z.array(z.string()).describe("Those that are new, changed or gone."),
    in_force: z
      .boolean()
      .describe("False: there are errors, or files that wait for an ack; the last good version stays in force."),
    problems: z.array(z.string()),
  }).describe("Files of the project changed; what they say holds from this step on, if it is in force."),
  Reprompted: wire({ turn, step, text: z.string(), source: where }).describe(
    "The agent wanted to stop and was sent back to work with this text.",
  ),
  ScriptLogged: wire({
    turn: turn.optional(),
    call_id: callId.optional(),
    source: where,
    level: z.enum(["info", "warn", "error"]),
    message: z.string(),
  }).describe("A script of a tool or hook wrote a line."),
  MetricsCounted: wire({ turn, counters: z.record(z.string(), z.number()) }).describe(
    "Counters of the project's scripts that the turn has changed, as they are now.",
  ),
  ContextSet: wire({ values: z.record(z.string(), z.unknown()) }).describe(
    "Values that conditions see have changed; all of them as they are now.",
  ),
  QuestionAsked: wire({
    turn,
    call_id: callId,
    question: z.string(),
    options: z.array(z.string()).optional(),
    delegate: delegate.optional().describe("Who asks, when it is not the root agent."),
  }).describe("The model asks the person something. Feature: ask_user."),
  ModelChanged: wire({ model: z.string(), previous: z.string() }).describe("SetModel took effect, or a fallback did."),
  PlanModeChanged: wire({ active: z.boolean() }).describe("Plan mode was entered or left."),
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
  }).describe("Something failed."),
  StreamGap: wire({
    from: z.number().int().nonnegative(),
    to: z.number().int().nonnegative(),
    reason: z.enum(["ttl", "overflow"]),
  }).describe("Events between the two ids are not available on this stream."),
  TokenExpiring: wire({ token: idSchema(TokenId), expires_at: z.iso.datetime() }).describe(
    "The client's token ends soon. Told on each of its streams; not in the log.",
  ),
  TokenRequested: wire({
    token: idSchema(TokenId).describe("The id that the token would have."),
    code: z
      .string()
      .regex(/^\d{6}$/)
      .describe("Whoever gives it to the program that asks makes the token."),
    sessions: z.array(idSchema(SessionId)).optional().describe("Absent: all of them."),
    commands: z.array(z.string()),
    identity_class: z.enum(["human", "agent"]),
    can_mint: z.boolean(),
    expires_at: z.iso.datetime().describe("The end of the token."),
    confirm_by: z.iso.datetime().describe("The end of the code."),
  }).describe(
    "A program asks for a token, and a person is to confirm it. Told to attached people who may do all of it; not in the log.",
  ),
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
  MCPServerDown: wire({ name: z.string(), reason: z.string(), attempts: z.number().int() }).describe(
    "An MCP server exhausted its restarts.",
  ),
  SessionStarted: wire({
    working_dir: z.string(),
    root: z.string().optional().describe("Where that really is, when it is a link."),
    profile: z.string(),
    model: z.string(),
    parent: idSchema(SessionId).optional().describe("The session that delegated to it, or that it was branched from."),
    call_id: callId.optional().describe("Of a delegate: the call of the parent that opened it."),
    agent: z.string().optional().describe("Of a delegate: its name; empty for one without."),
    depth: depth.optional(),
  }).describe("First event of a session."),
  SessionEnded: wire({ reason: z.enum(["idle", "user", "error", "binary-shutdown", "delegation-over"]) }).describe(
    "The engine let go of it.",
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
  SandboxStatus: wire({
    mode: z.enum(["auto", "required", "off"]),
    active: z.boolean().describe("Commands run in a sandbox of the operating system."),
    backend: z.string().optional(),
    network: z.enum(["open", "none", "listed"]).describe("listed: only the domains, through the egress proxy."),
    domains: z.array(z.string()).optional(),
    detail: z.string().describe("One line for a person."),
  }).describe("What commands of this session run in; before the first one does."),
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
  CustomEvent: wire({ namespace: z.string(), kind: z.string(), payload: z.unknown() }).describe("A plugin's event."),
} as const;

export type EventKind = keyof typeof events;

/** Declared for what comes, and published by nothing yet. */
export const reservedEvents = ["CompactionTriggered", "MCPServerDown"] as const satisfies readonly EventKind[];

export type EventPayload<Kind extends EventKind> = z.infer<(typeof events)[Kind]>;
export type JudgedOn = z.infer<typeof judgedOn>;
export type Label = z.infer<typeof label>;
export type Usage = z.infer<typeof usage>;
export type TurnOutcome = z.infer<typeof turnOutcome>;
export type CallOutcome = z.infer<typeof callOutcome>;
export type ToolClass = z.infer<typeof toolClass>;
