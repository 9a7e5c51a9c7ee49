/** Commands by which people answer what waits for them, and the permission rules that come of answers. */
import { row } from "./command-row.ts";

export const answerCommands = {
  AnswerPermission: row({
    text: "Answers a PermissionRequested. The first answer counts; a later one is recorded as AnswerTooLate and changes nothing.",
    params: ({ z, session, callId, decision }) => ({
      session,
      call_id: callId,
      decision,
      reason: z.string().max(2000).optional().describe("The model reads it if the answer is a denial."),
      args: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          "Arguments to run instead of the requested ones, with allow_once only. The changed call is validated, hooked and judged again; it must name the same files and programs. Feature: changed_calls.",
        ),
    }),
    scope: "none",
    humanOnly: "answer",
    route: "POST /v1/sessions/{id}/permission",
    rpc: "approval.respond",
  }),
  AnswerQuestion: row({
    text: "Answers a QuestionAsked. The first answer counts.",
    params: ({ z, session, callId }) => ({ session, call_id: callId, answer: z.string().max(100_000) }),
    scope: "none",
    humanOnly: "answer",
    feature: "ask_user",
    rpc: "question.respond",
  }),
  DescribeAck: row({
    text: "Returns the file that an AckRequested asks about, as it is now and as it was acked.",
    params: ({ session, callId }) => ({ session, call_id: callId }),
    reply: ({ ackReport }) => ({ result: ackReport }),
    scope: "none",
    humanOnly: "read a file that waits for an ack",
    feature: "acks",
    rpc: "ack.describe",
  }),
  AnswerAck: row({
    text: "Answers an AckRequested. The first answer counts. If the file is no longer what was shown, the answer is refused with HookHashChanged and the new version is asked about. If redaction hid a part of the file, accept is refused with NotAllowed and the file keeps waiting.",
    params: ({ z, session, callId, sha256 }) => ({
      session,
      call_id: callId,
      sha256: sha256.optional().describe("The content that was shown. Absent for a removed file."),
      answer: z
        .enum(["accept", "deny", "later"])
        .describe("later: nothing is kept, and the file keeps waiting until it changes or harness ack answers."),
    }),
    scope: "none",
    humanOnly: "ack a file",
    feature: "acks",
    rpc: "ack.respond",
  }),
  ResolveOrphan: row({
    text: "Says whether an OrphanedCall succeeded or failed; abort ends the session.",
    params: ({ z, session, callId }) => ({
      session,
      call_id: callId,
      resolution: z.enum(["failed", "succeeded", "abort"]),
      note: z.string().max(2000).optional().describe("What the person found out; the model reads it."),
    }),
    scope: "none",
    humanOnly: "resolve an interrupted call",
    feature: "orphans",
    rpc: "call.resolve",
  }),
  ListRules: row({
    text: "Returns the permission rules in effect, each with its source.",
    params: ({ session }) => ({ session }),
    reply: ({ ruleList }) => ({ result: ruleList }),
    scope: "session",
    feature: "session_rules",
    rpc: "rule.list",
  }),
  RevokeRule: row({
    text: "Removes a rule that an answer added to this session.",
    params: ({ session, rule }) => ({ session, rule }),
    scope: "session",
    humanOnly: "remove a rule",
    feature: "session_rules",
    rpc: "rule.revoke",
  }),
  PromoteRule: row({
    text: "Saves a rule of this session in the user's configuration.",
    params: ({ session, rule }) => ({ session, rule }),
    scope: "session",
    humanOnly: "save a rule",
    feature: "session_rules",
    rpc: "rule.promote",
  }),
};
