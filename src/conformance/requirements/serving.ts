/** Requirements of the server around the sessions, and of the two surfaces with forms of their own. */
import { CANONICAL, COMMANDS, cited, HTTP, type Requirement } from "./row.ts";

export const servingRequirements = {
  ...cited("service", "Authentication", HTTP, {
    "auth:required": "A request without a token is refused, on a Unix socket as well.",
    "auth:unknown": "A request with a token that the server does not know is refused.",
  }),
  ...cited("service", "Listening and binding", ["rest"], {
    "auth:host": "A request for another Host, or with two Host headers, is refused.",
    "auth:origin": "A page of an origin that is not listed is refused, its preflight as well.",
    "auth:tls": "An address that other machines can reach speaks TLS and nothing else, and wants a token.",
  }),
  ...cited("service", "Token expiry mid-turn", ["rest", "ws"], {
    "auth:expired": "A command with a token that has passed its time is refused with TokenExpired.",
    "auth:expiring": "Before its token ends a client is told on its streams which and when; the log has nothing of it.",
    "auth:drain":
      "From the end of its token on no command of a client is taken and no stream is opened; the one that is open goes on.",
  }),
  ...cited("adr19", "Decision", ["rest", "ws"], {
    "auth:drain-end": "A minute after the end of its token the streams of a client end.",
  }),
  ...cited("adr19", "Decision", ["rest"], {
    "auth:lan-scope": "A token for all sessions is refused on an address that other machines can reach.",
  }),
  ...cited("service", "Concurrent-worktree deployment model", ["rest", "rpc"], {
    "session:listed": "A new session is in the list, with its working folder.",
  }),
  ...cited("service", "REST surface", CANONICAL, {
    "session:end": "Ending a session tells its clients, and its log stays.",
  }),
  ...cited("service", "Idle-shutdown and resource lifecycle", CANONICAL, {
    "session:reopen": "A session that has ended can be opened again and goes on in the same log.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "session:log": "The log can be read a page at a time; the pages are the whole of it.",
  }),
  ...cited("service", "SQLite session log: private schema", ["rest"], {
    "session:export": "An export is JSON lines of canonical events.",
  }),
  ...cited("service", "Persistence: Branch", ["rest"], {
    "session:branch": "A branch is a new session with the events up to the end of a turn; the first stays as it is.",
  }),
  ...cited("decisions", "Answers: New verbs", COMMANDS, {
    "session:undo": "What calls of a turn changed can be taken back, once, and is recorded.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "catalog:routes": "The lists of tools, providers, profiles, skills, MCP servers and slash commands answer.",
    "catalog:openapi": "The routes are described as OpenAPI 3.1.",
  }),
  ...cited("runtime", "14 Operational runbook notes", ["rest"], {
    "catalog:health": "The health route tells that it is there and its version.",
  }),
  ...cited("core", "Event types", ["plain"], {
    "plain:events": "user, text, reasoning, tool_call, tool_result and status have their fields.",
  }),
  ...cited("decisions", "Answers: Handshake", ["plain"], {
    "plain:default": "A prompt that names no session goes to the one that the listener keeps.",
  }),
  ...cited("rpc", "initialize", ["rpc"], {
    "rpc:initialize": "initialize tells the version of the surface and its capabilities.",
  }),
  ...cited("rpc", "Types", ["rpc"], {
    "rpc:threads": "A thread has its id, title, folder and times, in create, list and get.",
  }),
  ...cited("rpc", "Notifications", ["rpc"], {
    "rpc:created": "A new thread is announced.",
  }),
  ...cited("rpc", "Item types", ["rpc"], {
    "rpc:items": "Messages, calls, approvals and artifacts are items: begun, then completed, with ids of their own.",
  }),
  ...cited("rpc", "Error codes", ["rpc"], {
    "rpc:method":
      "An unknown method is -32601, wrong parameters are -32602, what is no request is -32600, an unreadable line -32700.",
    "rpc:turn-not-found": "Cancelling a turn that is not there is -32003.",
  }),
  ...cited("runtime", "12.1 Contract tests", ["rpc"], {
    "rpc:notification": "An unknown notification ends nothing and is not answered.",
  }),
  ...cited("decisions", "What others learned 14", ["rpc"], {
    "rpc:framing": "Lines end at a line feed and nowhere else.",
  }),
  ...cited("runtime", "5.1 Stdio transport", ["rpc"], {
    "rpc:pristine": "Standard output holds JSON-RPC messages and nothing else.",
  }),
  ...cited("rpc", "Transport", ["rpc"], {
    "rpc:exit": "The program ends with 0 when its input ends.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
