/** Every command a client can send. One row gives the type, the parser, the JSON Schema and the handshake entry. */
import { z } from "zod";
import { inputBlock } from "./content.ts";
import { CallId, SessionId, TurnId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

const session = idSchema(SessionId).describe("The session the command is for.");
const callId = idSchema(CallId);
const skipConflicts = z
  .boolean()
  .optional()
  .describe("Leaves paths that somebody else has changed since and does the others; otherwise one such path stops it.");

/** Values of the run context: plain data, bounded. */
const contextValues = z
  .record(z.string().min(1).max(100), z.union([z.string().max(10_000), z.number(), z.boolean(), z.null()]))
  .refine((values) => Object.keys(values).length <= 100, "at most 100 values");

/** The four answers to a permission request. */
export const decision = z.enum(["allow_once", "allow_argv_glob", "allow_tool", "deny"]);

export const commands = {
  SendInput: wire({
    kind: z.literal("SendInput"),
    session,
    content: z.array(inputBlock).min(1),
  }).describe("Starts a turn. Refused with TurnInProgress while one is running."),
  CancelTurn: wire({ kind: z.literal("CancelTurn"), session }).describe("Ends the running turn; nothing when idle."),
  AnswerPermission: wire({
    kind: z.literal("AnswerPermission"),
    session,
    call_id: callId,
    decision,
    reason: z.string().max(2000).optional().describe("Told to the model with a deny."),
  }).describe("Answers a PermissionRequested. The first answer of a human counts."),
  CreateSession: wire({
    kind: z.literal("CreateSession"),
    profile: z.string().optional(),
    resume: idSchema(SessionId).optional().describe("Open this session again instead of a new one."),
    working_dir: z.string().optional().describe("Absolute path of the workspace; default: the engine's own."),
    model: z.string().optional().describe("provider:name; default: as configured."),
    context: contextValues
      .optional()
      .describe("What conditions and scripts see as ctx. Only a human may set any. Feature: context_values."),
  }).describe("Opens a session and attaches the sender to it."),
  AttachSession: wire({
    kind: z.literal("AttachSession"),
    session,
    since: z.number().int().nonnegative().optional().describe("Replay events with a higher id first."),
  }).describe("Subscribes the sender to a session's events."),
  DetachSession: wire({ kind: z.literal("DetachSession"), session }).describe(
    "Ends the subscription; the turn goes on.",
  ),
  SetModel: wire({
    kind: z.literal("SetModel"),
    session,
    model: z.string().min(1).describe("provider:name, or a name from the models list."),
  }).describe("Uses another model from the next step on."),
  EnterPlanMode: wire({ kind: z.literal("EnterPlanMode"), session }).describe("Only read-only calls pass from now on."),
  ExitPlanMode: wire({
    kind: z.literal("ExitPlanMode"),
    session,
    approve: z.boolean().describe("False keeps plan mode on."),
  }).describe("Approves or rejects the plan."),
  AnswerQuestion: wire({
    kind: z.literal("AnswerQuestion"),
    session,
    call_id: callId,
    answer: z.string().max(100_000),
  }).describe("Answers a QuestionAsked. Feature: ask_user."),
  ResolveOrphan: wire({
    kind: z.literal("ResolveOrphan"),
    session,
    call_id: callId,
    resolution: z.enum(["failed", "succeeded", "abort"]),
    note: z.string().max(2000).optional().describe("What the person found out; told to the model."),
  }).describe("Says what became of an OrphanedCall; abort ends the session. Feature: orphans."),
  ListRules: wire({ kind: z.literal("ListRules"), session }).describe(
    "Answers with the permission rules in force, each with where it is written. Feature: session_rules.",
  ),
  RevokeRule: wire({ kind: z.literal("RevokeRule"), session, rule: z.string().min(1).max(1000) }).describe(
    "Takes back a rule that an answer has added to this session. Only a human may. Feature: session_rules.",
  ),
  PromoteRule: wire({ kind: z.literal("PromoteRule"), session, rule: z.string().min(1).max(1000) }).describe(
    "Keeps a rule of this session in the user's configuration. Only a human may. Feature: session_rules.",
  ),
  SetContext: wire({ kind: z.literal("SetContext"), session, values: contextValues }).describe(
    "Sets values of the run context (null removes one) from the next step on. Only a human may. Feature: context_values.",
  ),
  UndoTurn: wire({
    kind: z.literal("UndoTurn"),
    session,
    turn: idSchema(TurnId).optional().describe("Default: the newest turn of the session that can be undone."),
    skip_conflicts: skipConflicts,
  }).describe("Takes back what the calls of a turn changed in the workspace. Only while no turn runs. Feature: undo."),
  UndoCall: wire({
    kind: z.literal("UndoCall"),
    session,
    call_id: callId,
    skip_conflicts: skipConflicts,
  }).describe("Takes back what one call changed in the workspace. Only while no turn runs. Feature: undo."),
  Redo: wire({
    kind: z.literal("Redo"),
    session,
    turn: idSchema(TurnId).optional(),
    call_id: callId.optional().describe("Beats the turn; with neither, what was undone last."),
    skip_conflicts: skipConflicts,
  }).describe("Makes again what was undone. Only while no turn runs. Feature: undo."),
  QueueInput: wire({ kind: z.literal("QueueInput"), session, content: z.array(inputBlock).min(1) }).describe(
    "Keeps an input in the log until the running turn has ended, then starts a turn with it, once, also after a restart. " +
      "When idle it starts at once. Feature: queue_input.",
  ),
  SteerTurn: wire({ kind: z.literal("SteerTurn"), session, content: z.array(inputBlock).min(1) }).describe(
    "Tells the running turn something; the model reads it at the next step. Refused with NoTurnRunning when idle. " +
      "Feature: steer_turn.",
  ),
  EndSession: wire({ kind: z.literal("EndSession"), session }).describe(
    "Cancels the running turn and closes the session; its log stays. Feature: end_session.",
  ),
  CustomCommand: wire({
    kind: z.literal("CustomCommand"),
    session,
    namespace: z.string().regex(/^[a-z][a-z0-9-]*$/),
    verb: z.string().min(1),
    payload: z.unknown(),
  }).describe("Routed by namespace to the plugin that claimed it."),
} as const;

export type CommandKind = keyof typeof commands;
export type Decision = z.infer<typeof decision>;
export type CommandOf<Kind extends CommandKind> = z.infer<(typeof commands)[Kind]>;
export type Command = { [Kind in CommandKind]: CommandOf<Kind> }[CommandKind];

export const command = z.discriminatedUnion("kind", [
  commands.SendInput,
  commands.CancelTurn,
  commands.AnswerPermission,
  commands.CreateSession,
  commands.AttachSession,
  commands.DetachSession,
  commands.SetModel,
  commands.EnterPlanMode,
  commands.ExitPlanMode,
  commands.AnswerQuestion,
  commands.ResolveOrphan,
  commands.ListRules,
  commands.RevokeRule,
  commands.PromoteRule,
  commands.SetContext,
  commands.UndoTurn,
  commands.UndoCall,
  commands.Redo,
  commands.QueueInput,
  commands.SteerTurn,
  commands.EndSession,
  commands.CustomCommand,
]);
