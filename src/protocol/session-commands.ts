/** Commands about a session as a whole: opened, watched and ended, its context values, its workspace taken back, plugins. */
import { row } from "./command-row.ts";

/** The deed that CreateSession shares with SetContext, where it sets values. */
export const SET_CONTEXT_DEED = "set context values";

export const sessionCommands = {
  CreateSession: row({
    text: "Opens a session and attaches the sender to it.",
    params: ({ z, sessionId, contextValues }) => ({
      profile: z.string().optional(),
      resume: sessionId.optional().describe("Reopen this session instead of creating a new one."),
      working_dir: z.string().optional().describe("Absolute path of the workspace; default: the engine's own."),
      model: z.string().optional().describe("provider:name; default: as configured."),
      context: contextValues
        .optional()
        .describe("Values that conditions and scripts see as ctx. Only a human may set them. Feature: context_values."),
    }),
    reply: ({ sessionId }) => ({ session: sessionId.describe("The session that is open now.") }),
    scope: "program",
    route: "POST /v1/sessions",
    rpc: "session.open",
  }),
  AttachSession: row({
    text: "Subscribes the sender to a session's events.",
    params: ({ z, session }) => ({
      session,
      since: z.number().int().nonnegative().optional().describe("Replay events with a higher id first."),
    }),
    reply: ({ sessionId }) => ({ session: sessionId }),
    scope: "session",
    route: "GET /v1/sessions/{id}/events",
  }),
  DetachSession: row({
    text: "Ends the subscription; a running turn continues.",
    params: ({ session }) => ({ session }),
    scope: "session",
  }),
  EndSession: row({
    text: "Cancels the running turn and closes the session; its log stays.",
    params: ({ session }) => ({ session }),
    scope: "session",
    feature: "end_session",
    route: "DELETE /v1/sessions/{id}",
    rpc: "session.end",
  }),
  SetContext: row({
    text: "Sets values of the run context (null removes one) from the next step on.",
    params: ({ session, contextValues }) => ({ session, values: contextValues }),
    scope: "session",
    humanOnly: SET_CONTEXT_DEED,
    feature: "context_values",
    rpc: "context.set",
  }),
  UndoTurn: row({
    text: "Reverts what the calls of a turn changed in the workspace. Only while no turn runs.",
    params: ({ z, session, turnId, skipConflicts }) => ({
      session,
      turn: turnId.optional().describe("Default: the newest turn of the session that can be undone."),
      skip_conflicts: skipConflicts,
      dry_run: z
        .boolean()
        .optional()
        .describe("Only says what would be done, and changes nothing. Feature: describe_session."),
    }),
    reply: ({ undoReport }) => ({ result: undoReport }),
    scope: "session",
    humanOnly: "undo changes of calls",
    feature: "undo",
    route: "POST /v1/sessions/{id}/undo",
    rpc: "undo.turn",
  }),
  UndoCall: row({
    text: "Reverts what one call changed in the workspace. Only while no turn runs.",
    params: ({ session, callId, skipConflicts }) => ({ session, call_id: callId, skip_conflicts: skipConflicts }),
    reply: ({ undoReport }) => ({ result: undoReport }),
    scope: "session",
    humanOnly: "undo changes of calls",
    feature: "undo",
    route: "POST /v1/sessions/{id}/undo",
    rpc: "undo.call",
  }),
  Redo: row({
    text: "Applies again what was undone. Only while no turn runs.",
    params: ({ session, turnId, callId, skipConflicts }) => ({
      session,
      turn: turnId.optional(),
      call_id: callId.optional().describe("Overrides the turn; default for both: what was undone last."),
      skip_conflicts: skipConflicts,
    }),
    reply: ({ undoReport }) => ({ result: undoReport }),
    scope: "session",
    humanOnly: "redo changes of calls",
    feature: "undo",
    route: "POST /v1/sessions/{id}/undo",
    rpc: "undo.redo",
  }),
  DescribeSession: row({
    text: "Returns what a session runs with: branch, mode, sandbox, models, MCP servers and hooks.",
    params: ({ session }) => ({ session }),
    reply: ({ sessionFacts }) => ({ result: sessionFacts }),
    scope: "none",
    feature: "describe_session",
    rpc: "session.describe",
  }),
  DescribeChanges: row({
    text: "Returns what calls of a session changed in its workspace, as recorded for undo.",
    params: ({ z, session, turnId }) => ({
      session,
      turn: turnId.optional().describe("Changes since this turn began. Default: since the session began."),
      path: z.string().max(4096).optional().describe("The reply has the texts of this path."),
    }),
    reply: ({ changesReport }) => ({ result: changesReport }),
    scope: "none",
    humanOnly: "read the changes of a session",
    feature: "describe_changes",
    rpc: "changes.describe",
  }),
  RunSlashCommand: row({
    text: "Runs a slash command of the session. The reply says what the client does next.",
    params: ({ z, session }) => ({
      session,
      namespace: z.string().max(100).describe("Empty for a word without one."),
      name: z.string().min(1).max(200),
      args: z
        .record(z.string().max(100), z.string().max(100_000))
        .optional()
        .describe("By name, as args_schema of its row says."),
    }),
    reply: ({ slashOutcome }) => ({ result: slashOutcome }),
    scope: "session",
    feature: "slash_commands",
    rpc: "slash_command.run",
  }),
  CompleteInput: row({
    text: "Says what can stand in the place of an input that a person types: slash commands, their arguments, files behind @, @server:uri.",
    params: ({ z, session }) => ({ session, text: z.string().max(10_000) }),
    reply: ({ z }) => ({ result: z.array(z.string()).readonly().describe("Whole inputs, at most 100.") }),
    scope: "none",
    humanOnly: "complete an input",
    feature: "complete_input",
    rpc: "input.complete",
  }),
  CustomCommand: row({
    text: "Routed by namespace to the plugin that claimed it.",
    params: ({ z, session }) => ({
      session,
      namespace: z.string().regex(/^[a-z][a-z0-9-]*$/),
      verb: z.string().min(1),
      payload: z.unknown(),
    }),
    reply: ({ z }) => ({ result: z.unknown().describe("What the plugin's handler returned.") }),
    scope: "session",
    rpc: "custom.run",
  }),
};
