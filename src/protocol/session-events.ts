/** The session around its turns: its beginning and end, what it runs with, and the streams of its clients. */
import { z } from "zod";
import { callId, depth, sha256, turn, where } from "./event-fields.ts";
import { ClientId, SessionId, TokenId } from "./ids.ts";
import { idSchema, wire } from "./wire.ts";

export const sessionEvents = {
  SessionStarted: wire({
    working_dir: z.string(),
    root: z.string().optional().describe("The real path, if it is a link."),
    profile: z.string(),
    model: z.string(),
    parent: idSchema(SessionId).optional().describe("The session that delegated to it, or that it was branched from."),
    call_id: callId.optional().describe("For a delegate: the call of the parent that opened it."),
    agent: z.string().optional().describe("For a delegate: its name; empty if it has none."),
    depth: depth.optional(),
  }).describe("First event of a session."),
  SessionEnded: wire({
    reason: z
      .enum(["idle", "user", "error", "binary-shutdown", "delegation-over", "paused"])
      .describe(
        "`paused`: a person went on in another session, or with another profile. Whoever resumes it continues it.",
      ),
    continued_in: idSchema(SessionId)
      .optional()
      .describe("For `paused`: the session in which the conversation continues. It can be this one."),
  }).describe("The engine closed the session."),
  ModelChanged: wire({ model: z.string(), previous: z.string() }).describe("SetModel took effect, or a fallback did."),
  ContextSet: wire({ values: z.record(z.string(), z.unknown()) }).describe(
    "Context values changed; this has all current values.",
  ),
  ProjectChanged: wire({
    version: sha256.describe("Hash of all project files together."),
    files: z.array(z.string()).describe("Files that are new, changed or removed."),
    in_force: z
      .boolean()
      .describe("False: there are errors, or files that wait for an ack, so the last good version stays in effect."),
    problems: z.array(z.string()),
  }).describe("Files of the project changed. If in_force is true, they apply from this step on."),
  SkillRegistryChanged: wire({ skills: z.array(z.string()).describe("The names of all skills, sorted.") }).describe(
    "The skills or the slash commands of the project changed. A list of slash commands that a client keeps is out of date.",
  ),
  ScheduleChanged: wire({
    name: z.string(),
    change: z.enum(["added", "removed", "run"]).describe("run: a person asked for a run now."),
    by: idSchema(ClientId),
    folder: z.string().optional().describe("Where its sessions work."),
    next_at: z.iso.datetime().optional().describe("Its next tick."),
  }).describe("A person changed a schedule from this session. The daemon runs it, in sessions of its own."),
  SandboxStatus: wire({
    mode: z.enum(["auto", "required", "off"]),
    active: z.boolean().describe("Commands run in a sandbox of the operating system."),
    backend: z.string().optional(),
    network: z
      .enum(["open", "public", "listed", "none"])
      .describe(
        "What allowed commands can reach: the machine's network, or through the egress proxy every public host or the listed domains.",
      ),
    domains: z.array(z.string()).optional(),
    detail: z.string().describe("One line for a person."),
  }).describe("How commands of this session are confined. Sent before the first command runs."),
  ScriptLogged: wire({
    turn: turn.optional(),
    call_id: callId.optional(),
    source: where,
    level: z.enum(["info", "warn", "error"]),
    message: z.string(),
  }).describe("A script of a tool or hook wrote a line."),
  StreamGap: wire({
    from: z.number().int().nonnegative(),
    to: z.number().int().nonnegative(),
    reason: z.enum(["ttl", "overflow"]),
  }).describe("Events between the two ids are not available on this stream."),
  TokenExpiring: wire({ token: idSchema(TokenId), expires_at: z.iso.datetime() }).describe(
    "The client's token expires soon. Sent on each of the client's streams; not in the log.",
  ),
  TokenRequested: wire({
    token: idSchema(TokenId).describe("The id that the token would have."),
    code: z
      .string()
      .regex(/^\d{6}$/)
      .describe("A person confirms the token by giving this code to the program that requested it."),
    sessions: z.array(idSchema(SessionId)).optional().describe("Absent: all of them."),
    commands: z.array(z.string()),
    identity_class: z.enum(["human", "agent"]),
    can_mint: z.boolean(),
    expires_at: z.iso.datetime().describe("The end of the token."),
    confirm_by: z.iso.datetime().describe("The end of the code."),
  }).describe(
    "A program is requesting a token, and a person has to confirm it. Sent to attached people who have all of its rights; not in the log.",
  ),
  MCPServerDown: wire({ name: z.string(), reason: z.string(), attempts: z.number().int() }).describe(
    "An MCP server exhausted its restarts.",
  ),
  ResourceUpdated: wire({ turn: turn.optional(), server: z.string(), uri: z.string() }).describe(
    "A resource that the session has read from an MCP server changed since. The model reads a note about it at its next step.",
  ),
  MCPToolsChanged: wire({
    name: z.string(),
    tools: z.array(z.string()).describe("At most 50 names."),
  }).describe(
    "Tools of an MCP server are new or differ from what was approved. They are not offered until somebody approves them (`harness mcp approve NAME`).",
  ),
  CustomEvent: wire({ namespace: z.string(), kind: z.string(), payload: z.unknown() }).describe("A plugin's event."),
} as const;
