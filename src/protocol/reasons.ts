/**
 * Every reason the program can refuse or fail with: the code is the contract for clients, the text for people, and the
 * three numbers are how it reads over HTTP, JSON-RPC and as a process exit code. `<name>` in a text is filled in.
 */

interface ReasonRow {
  readonly http: number;
  readonly rpc: number;
  readonly exit: 0 | 1 | 2 | 3 | 130;
  readonly text: string;
}

export const reasons = {
  HandshakeRequired: row(428, -32600, 2).says("Send /v1/handshake before any command. See § Protocol versioning."),
  HandshakeVersionMismatch: row(426, -32600, 2).says(
    "Client speaks protocol <client_ver>; server speaks <server_ver>. Upgrade <client_or_server>.",
  ),
  InvalidCommand: row(400, -32602, 2).says("The command is not valid: <detail>."),
  TurnInProgress: row(409, -32002, 1).says(
    "Another client is sending input to this session (started by <originator> at <ts>). Wait, or send /cancel to interrupt.",
  ),
  TurnNotFound: row(404, -32003, 1).says("No such turn is running in <session>."),
  NoTurnRunning: row(409, -32602, 1).says("<session> has no running turn to steer. Send it as input instead."),
  QueueFull: row(429, -32603, 1).says(
    "<waiting> inputs are already queued for <session>. Wait until one has started, or cancel the turn.",
  ),
  InputNotQueued: row(409, -32602, 1).says(
    "Input <queued> does not wait: its turn has begun, or somebody took it back.",
  ),
  InputWithdrawn: row(409, -32602, 1).says("Somebody took the input back before its turn began."),
  InputLeftBehind: row(409, -32602, 1).says(
    "The input was queued in the session that this one was copied from, so it does not start here. Send it again if you want it here.",
  ),
  HostRefused: row(421, -32600, 2).says("The request is not for this server: <detail>."),
  OriginRefused: row(403, -32600, 2).says(
    "Web pages of <origin> may not use this server. To allow them, start it with --allow-origin.",
  ),
  RouteNotFound: row(404, -32601, 2).says("There is no <method> <path>. GET /v1/openapi.json lists the routes."),
  MethodNotAllowed: row(405, -32601, 2).says("<path> accepts <allowed>, not <method>."),
  BodyTooLarge: row(413, -32600, 2).says("The message is larger than <limit> bytes."),
  RequestTimeout: row(408, -32600, 1).says("The request was not complete within <seconds> s."),
  FrameRepeated: row(409, -32600, 2).says(
    "The frame id <id> was already used on this connection. The command was not executed again.",
  ),
  TooManyStreams: row(503, -32603, 1).says("<limit> event streams are already open. Close one, or try again later."),
  Overloaded: row(503, -32603, 1).says("The server has too much unfinished input. Try again in a moment."),
  ServerUnreachable: row(503, -32603, 1).says("No server answers on <address>: <detail>. Nothing was sent."),
  ConnectionLost: row(502, -32603, 1).says(
    "The connection to <address> was lost before the answer arrived (<detail>). The session log shows whether the command was executed.",
  ),
  ServerGarbled: row(502, -32603, 1).says(
    "The server on <address> sent a message that does not follow the protocol: <detail>.",
  ),
  ServerRefused: row(502, -32603, 1).says(
    "The server on <address> refused the command for a reason that this client does not know: <detail>",
  ),
  ShuttingDown: row(503, -32603, 1).says(
    "The server is shutting down and accepts no new work. Try again when it is back.",
  ),
  SessionNotFound: row(404, -32001, 2).says("There is no session <session>."),
  SessionClosed: row(410, -32001, 1).says(
    "Session <session> has ended. To open it again, send CreateSession with resume.",
  ),
  SessionBusy: row(409, -32002, 1).says(
    "Session <session> is open in another process (<owner>). Close it there first.",
  ),
  OrphanUnresolved: row(409, -32002, 1).says(
    "A call of an earlier run was interrupted, and nobody has said whether it succeeded: <tool> (<call_id>). Send ResolveOrphan first.",
  ),
  Interrupted: row(500, -32603, 1).says("The program stopped in the middle of this turn."),
  BranchPointInvalid: row(400, -32602, 2).says("Event <event> of <session> does not end a turn: <detail>"),
  UndoConflict: row(409, -32603, 1).says("<detail>"),
  NothingToUndo: row(404, -32602, 1).says("<detail>"),
  KeyInvalid: row(400, -32602, 2).says("<detail>"),
  LogCorrupt: row(500, -32603, 1).says("The session log <path> is damaged: <detail>"),
  LogRepaired: row(500, -32603, 1).says("The session log was repaired when it was opened: <detail>."),
  SnapshotUnusable: row(500, -32603, 1).says(
    "The snapshot of this session could not be read or written: <detail>. Nothing is lost, but opening the session takes longer.",
  ),
  MemoryUnusable: row(500, -32603, 1).says("A memory was left out: <detail>"),
  ContextSourceFailed: row(500, -32603, 1).says("The context source <name> (<source>) gives nothing: <detail>"),
  EvidenceBroken: row(409, -32603, 1).says("<detail>"),
  HeadMismatch: row(409, -32603, 3).says("<detail>"),
  CallNotFound: row(404, -32004, 2).says(
    "No request is waiting for call <call_id>; it may have been answered already.",
  ),
  NotAllowed: row(403, -32006, 1).says("<detail>"),
  AlreadyExists: row(409, -32602, 1).says("<detail>"),
  UnknownNamespace: row(404, -32601, 2).says("No plugin has claimed the namespace '<namespace>'."),
  PermissionDenied: row(403, -32603, 1).says(
    "Permission denied for <tool> by <client>. To allow: re-prompt and pick 'Allow once / argv-glob / tool / session'.",
  ),
  PolicyDenied: row(403, -32603, 1).says(
    "<tool> is not available here: <why> (<source>). To allow it, change that policy.",
  ),
  ToolRateLimited: row(429, -32603, 1).says(
    '<tool> may be called <limit> times a minute (rate_limits.tools."<rule>" in config.toml). It can be called again in <seconds> s.',
  ),
  BudgetExceeded: row(429, -32603, 1).says(
    "The budget of the <scope> is used up: <used> of <limit> <kind> (budgets.<scope>.<field>). To allow more, raise that in harness.md.",
  ),
  PriceUnknown: row(422, -32603, 2).says(
    "The price of <model> is unknown, so Harness cannot enforce a budget in dollars (max_cost_usd). Add the price to [prices] of config.toml, or set max_tokens instead.",
  ),
  RuleNotFound: row(404, -32602, 2).says("No answer in this session added the rule '<rule>'."),
  ApprovalVoid: row(409, -32603, 1).says(
    "<tool> was allowed, but something changed after the approval: <changed> (built-in: approval-binding). It did not run. To allow it, make the call again and approve it again.",
  ),
  KindDelegation: row(409, -32603, 1).says("<detail>"),
  KindVerificationFailed: row(422, -32603, 1).says(
    "The delegate's work was not accepted after <attempts> attempts: <why>. Do not rely on what it claims.",
  ),
  VerifierBroken: row(500, -32603, 1).says(
    "The verifier itself failed, so the work it should check is not accepted: <detail>",
  ),
  ToolRetryLimit: row(429, -32603, 1).says(
    "<tool> has failed <failures> times in a row and is not called again in this turn (built-in: max-tool-retries). Continue without it, or say what you could not do.",
  ),
  HookBlocked: row(403, -32603, 1).says("<event> was blocked by the hook <hook>: <reason> (<source>)"),
  PermissionTimeout: row(408, -32603, 1).says(
    "Permission for <tool> not answered within <timeout>s. Tool call cancelled.",
  ),
  TokenExpired: row(401, -32603, 2).says(
    "Capability token expired at <exp>. Mint a new one: harness token mint --session <id> --identity-class <class>.",
  ),
  TokenRequired: row(401, -32603, 2).says(
    "This needs a capability token: X-Harness-Token, or HARNESS_TOKEN. Mint one with harness token mint.",
  ),
  TokenInvalid: row(401, -32603, 2).says("The capability token is not usable: <detail>."),
  TokenScope: row(403, -32006, 1).says("The token <jti> does not cover this: <what>."),
  ConfirmationUnavailable: row(403, -32603, 2).says(
    "A person must confirm a new token, but nobody can be asked: no human client is attached, and there is no terminal and no desktop notification. For CI, create a token file beforehand with harness token mint --file. For services, start the daemon with --auth-channel notify.",
  ),
  ConfirmationFailed: row(403, -32603, 1).says("The request for a token was not confirmed: <detail>."),
  TooManyFailures: row(429, -32603, 1).says("Too many attempts. Try again in <seconds> s."),
  TokenRevoked: row(401, -32603, 2).says("Token <jti> was revoked at <ts>. Mint a new one via /v1/auth/token."),
  MCPServerSHA256Mismatch: row(409, -32603, 2).says(
    "MCP server '<name>' refused to start: the binary at <path> changed. Expected sha256 <expected>, found <actual>. To approve the new binary, run /mcp:approve <name> or edit <profile_path> to update the pin.",
  ),
  MCPServerUnavailable: row(503, -32603, 1).says(
    "MCP server '<name>' is down after <attempts> restart attempts. Its tools are in degraded state. /mcp:restart <name> to retry, or check $XDG_STATE_HOME/harness/log/.",
  ),
  MCPLoginFailed: row(502, -32603, 1).says(
    "The login at MCP server '<name>' failed: <detail>. Nothing was stored. Try again with: harness mcp login <name>",
  ),
  PluginNotPinned: row(409, -32603, 2).says(
    "Plugin '<name>' was not loaded: <place> does not pin <path>. Read that file. To accept it, add this line to [plugins.<name>]: sha256 = \"<actual>\"",
  ),
  PluginSHA256Mismatch: row(409, -32603, 2).says(
    "Plugin '<name>' was not loaded: <path> changed. Expected sha256 <expected> (<place>), found <actual>. Read the new file. To accept it, write sha256 = \"<actual>\" into [plugins.<name>]; to continue without it, remove that table.",
  ),
  PluginFailed: row(500, -32603, 2).says("Plugin '<name>' failed: <detail>. Correct it, or remove it (<place>)."),
  HookHashChanged: row(409, -32603, 2).says(
    "<path> changed since you last approved it. Review the diff (TUI: 'v' opens the diff viewer). Re-ack to continue.",
  ),
  HookTimeout: row(504, -32603, 1).says("Hook '<event>' command '<cmd>' exceeded its <timeout>s deadline. Killed."),
  RateLimited: row(429, -32603, 1).says(
    "Provider <name> rate-limited the request. Retrying in <retry-after>s… (Ctrl-C to cancel, /model to switch).",
  ),
  BashCancelledMidCommand: row(499, -32603, 130).says(
    "Cancelled mid-Bash. The command ran for <duration> and may have modified files. Files possibly affected: <list>. Review /sessions:diff <id> to see what changed.",
  ),
  NonInteractiveAckRefused: row(403, -32603, 2).says(
    "Refusing to silently approve an unseen <kind> in non-interactive mode. Run harness ack --all once interactively, or pre-populate approved.lock from CI.",
  ),
  AckDenied: row(403, -32603, 2).says(
    "The project is not used, because <files> not acked. Review them with harness ack, or run without the project: --no-project.",
  ),
  Cancelled: row(499, -32603, 130).says("The turn was cancelled."),
  StepLimit: row(422, -32603, 1).says(
    "The turn reached its limit of <limit> steps without a final answer. Send another input to go on, or raise the limit.",
  ),
  LoopDetected: row(422, -32603, 1).says(
    "The agent kept making the same calls (<tools>), and nobody was there to allow it to continue. Give it another task, or run it where somebody can answer.",
  ),
  OutputLimit: row(422, -32603, 1).says("The model wrote more than <limit> bytes in one response."),
  StoreFailed: row(507, -32005, 1).says("This could not be stored: <detail>."),
  RedactionFailed: row(500, -32603, 1).says(
    "Harness could not remove secrets from the text, so it withheld the text: <detail>.",
  ),
  FileFailed: row(500, -32603, 1).says("<detail>."),
  InternalError: row(500, -32603, 1).says("Harness itself failed: <detail>"),
  ModelNotConfigured: row(400, -32602, 2).says("<detail>"),
  MissingCredential: row(401, -32602, 2).says("No key for <provider>: <variable>, <remedy>, or choose another model."),
  CredentialHostRefused: row(403, -32603, 2).says(
    "<credential> is not sent to <host>, because it is bound to <hosts>. Set the address in your own configuration, or store a key for it with harness creds add --host.",
  ),
  CredentialHelperFailed: row(503, -32603, 1).says(
    "The credential helper, the process that holds the keys, does not work: <detail>.",
  ),
  CredentialStoreFailed: row(500, -32603, 2).says("The stored keys cannot be used: <detail>"),
  UnknownModel: row(400, -32602, 2).says("<detail>"),
  QuotaExceeded: row(402, -32603, 1).says(
    "The account at <provider> has no credit or quota left: <detail>. Add credit there, or choose another model.",
  ),
  ProviderUnauthorized: row(401, -32603, 1).says("<provider> refused the key (HTTP <status>). Check <variable>."),
  ProviderRefused: row(502, -32603, 1).says("<provider> refused the request (HTTP <status>): <detail>"),
  ProviderUnavailable: row(503, -32603, 1).says("<provider> is not available (<detail>)."),
  ProviderUnreachable: row(502, -32603, 1).says("Cannot reach <provider> at <host>: <detail>."),
  ProviderTimeout: row(504, -32603, 1).says("<provider> did not answer in time: <detail>."),
  ProviderGarbled: row(502, -32603, 1).says("<provider> sent a response that does not follow its protocol: <detail>."),
  ProviderStreamCut: row(502, -32603, 1).says("<provider> ended the stream before the response was complete."),
  OutputTruncated: row(422, -32603, 1).says(
    "The response reached its limit of <limit> output tokens. Raise max_tokens, or ask for less at once.",
  ),
  ContentFiltered: row(422, -32603, 1).says("<provider> withheld the response (content filter)."),
  UnknownFinishReason: row(502, -32603, 1).says("<provider> ended the response for an unknown reason: <detail>."),
  ContextOverflow: row(413, -32603, 1).says(
    "The request has about <tokens> tokens; <model> accepts <limit>. Start a new session, or choose a model with a larger context.",
  ),
  ImagesUnsupported: row(415, -32602, 2).says(
    "<model> cannot read images. Leave the image out, or choose another model with --model or /model.",
  ),
  CompactionIneffective: row(413, -32603, 1).says(
    "The conversation was compacted twice and still has about <tokens> tokens; the limit is <limit>. <share> Start a new session, raise context.max_tokens, or choose a model with a larger context.",
  ),
  NothingToCompact: row(409, -32603, 1).says(
    "There is nothing to compact: the conversation has about <tokens> tokens, and its last part is always kept.",
  ),
  ScenarioInvalid: row(400, -32602, 2).says("<detail>"),
  ScenarioExhausted: row(422, -32603, 1).says("The scripted model has no reply for this input: <detail>"),
  UnknownTool: row(404, -32601, 1).says("There is no tool '<tool>'. Known tools: <known>."),
  InvalidArguments: row(400, -32602, 1).says("The arguments of <tool> are not valid: <detail>"),
  NotExecuted: row(424, -32603, 1).says("Not executed: an earlier call of this response failed."),
  ToolFailed: row(500, -32603, 1).says("<detail>"),
  ToolTimeout: row(504, -32603, 1).says("<tool> ran longer than <timeout>s and was stopped."),
  SandboxUnavailable: row(403, -32603, 2).says("The command cannot be confined: <detail>"),
  PlanModeActive: row(403, -32603, 1).says(
    "Plan mode is on: <tool> can change things and does not run yet (built-in: plan-mode). To allow it, a person approves the plan.",
  ),
  AnswerInvalid: row(422, -32603, 1).says("The answer does not match the schema after <attempts> attempts: <detail>"),
  CassetteMismatch: row(409, -32603, 1).says(
    "The session differs from the recording on the cassette (<place>): <detail>",
  ),
  CassetteInvalid: row(400, -32602, 2).says("The cassette cannot be played: <place>: <detail>"),
  CassetteNotWritten: row(507, -32603, 1).says("No cassette was written: <detail>."),
  DaemonFailed: row(503, -32603, 1).says("The daemon cannot be used: <detail>."),
  ConfigInvalid: row(400, -32602, 2).says("<detail>"),
  UsageInvalid: row(400, -32602, 2).says("<detail>"),
} as const satisfies Record<string, ReasonRow>;

export type Reason = keyof typeof reasons;

/** The text of a reason with its placeholders filled; a placeholder without a value stays visible. */
export function reasonText(reason: Reason, values: Readonly<Record<string, string | number>> = {}): string {
  return reasons[reason].text.replace(/<([a-z_-]+)>/g, (whole, name: string) => String(values[name] ?? whole));
}

/** A refusal or failure that carries its reason code. Thrown inside, turned into an event or exit code at the edge. */
export class ReasonError extends Error {
  override readonly name = "ReasonError";
  readonly reason: Reason;

  /** A text alone is the `detail`. */
  constructor(reason: Reason, values: string | Readonly<Record<string, string | number>> = {}, options?: ErrorOptions) {
    super(reasonText(reason, typeof values === "string" ? { detail: values } : values), options);
    this.reason = reason;
  }

  /** With a text that was made elsewhere, for example by a provider. */
  static withMessage(reason: Reason, message: string, options?: ErrorOptions): ReasonError {
    const error = new ReasonError(reason, {}, options);
    error.message = message;
    return error;
  }
}

function row(http: number, rpc: number, exit: ReasonRow["exit"]) {
  return { says: (text: string): ReasonRow => ({ http, rpc, exit, text }) };
}
