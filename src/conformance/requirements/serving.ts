/** Requirements for the server around the sessions, and for the plain and JSON-RPC surfaces. */
import { CANONICAL, COMMANDS, cited, HTTP, type Requirement } from "./row.ts";

export const servingRequirements = {
  ...cited("service", "Authentication", HTTP, {
    "auth:required": "A request without a token is refused, also on a Unix socket.",
    "auth:unknown": "A request with an unknown token is refused.",
  }),
  ...cited("service", "Listening and binding", ["rest"], {
    "auth:host": "A request for another Host, or with two Host headers, is refused.",
    "auth:origin": "A web page from an unlisted origin is refused, and so is its preflight request.",
    "auth:tls": "An address that other machines can reach accepts only TLS and requires a token.",
  }),
  ...cited("service", "Token expiry mid-turn", ["rest", "ws"], {
    "auth:expired": "A command with an expired token is refused with TokenExpired.",
    "auth:expiring":
      "Before a token expires, the client's streams say which token and when; the log does not record this.",
    "auth:drain":
      "Once a token expires, its client can send no command and open no stream; open streams continue for now.",
  }),
  ...cited("adr19", "Decision", ["rest", "ws"], {
    "auth:drain-end": "A client's open streams end one minute after its token expires.",
  }),
  ...cited("adr19", "Decision", ["rest"], {
    "auth:lan-scope": "A token for all sessions is refused on an address that other machines can reach.",
  }),
  ...cited("service", "Concurrent-worktree deployment model", ["rest", "rpc"], {
    "session:listed": "A new session appears in the list with its working folder.",
  }),
  ...cited("service", "REST surface", CANONICAL, {
    "session:end": "Ending a session notifies its clients and keeps its log.",
  }),
  ...cited("service", "Idle-shutdown and resource lifecycle", CANONICAL, {
    "session:reopen": "A session that has ended can be reopened and continues in the same log.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "session:log": "The log can be read page by page, and the pages together are the complete log.",
  }),
  ...cited("service", "SQLite session log: private schema", ["rest"], {
    "session:export": "An export is canonical events as JSON lines.",
  }),
  ...cited("service", "Persistence: Branch", ["rest"], {
    "session:branch":
      "A branch is a new session with the events up to the end of a turn; the original does not change.",
  }),
  ...cited("decisions", "Answers: New verbs", COMMANDS, {
    "session:undo": "The changes that a turn's calls made can be undone once, and the log records the undo.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "catalog:routes": "The lists of tools, providers, profiles, skills, MCP servers and slash commands are available.",
    "catalog:openapi": "The server describes its routes as OpenAPI 3.1.",
  }),
  ...cited("runtime", "14 Operational runbook notes", ["rest"], {
    "catalog:health": "The health route reports that the server is up, and its version.",
  }),
  ...cited("core", "Event types", ["plain"], {
    "plain:events": "user, text, reasoning, tool_call, tool_result and status events have their fields.",
  }),
  ...cited("decisions", "Answers: Handshake", ["plain"], {
    "plain:default": "A prompt without a session id goes to the listener's default session.",
  }),
  ...cited("rpc", "initialize", ["rpc"], {
    "rpc:initialize": "initialize reports the version of the surface and its capabilities.",
  }),
  ...cited("rpc", "Types", ["rpc"], {
    "rpc:threads": "create, list and get return a thread with its id, title, folder and times.",
  }),
  ...cited("rpc", "Notifications", ["rpc"], {
    "rpc:created": "The server sends a notification for each new thread.",
  }),
  ...cited("rpc", "Item types", ["rpc"], {
    "rpc:items": "Messages, calls, approvals and artifacts are items: each has its own id, starts, then completes.",
  }),
  ...cited("rpc", "Error codes", ["rpc"], {
    "rpc:method":
      "An unknown method is -32601, wrong parameters are -32602, an invalid request is -32600, an unreadable line is -32700.",
    "rpc:turn-not-found": "Cancelling a turn that does not exist is -32003.",
  }),
  ...cited("runtime", "12.1 Contract tests", ["rpc"], {
    "rpc:notification": "An unknown notification gets no reply and does not close the connection.",
  }),
  ...cited("decisions", "What others learned 14", ["rpc"], {
    "rpc:framing": "Only a line feed ends a line.",
  }),
  ...cited("runtime", "5.1 Stdio transport", ["rpc"], {
    "rpc:pristine": "Standard output contains only JSON-RPC messages.",
  }),
  ...cited("rpc", "Transport", ["rpc"], {
    "rpc:exit": "The program exits with 0 when its input ends.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
