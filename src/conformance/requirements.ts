/**
 * What a server has to do, one row for each requirement: in one sentence, where it is specified, and the wires that it holds for.
 * Scenarios cite rows by their id; the tests fail for a row that no scenario checks on one of its wires.
 */
import type { Wire } from "./driver.ts";

/** The documents that the requirements come from. */
export const documents = {
  service: "Engine and control plane specification",
  core: "Core harness specification",
  rpc: "Harness protocol specification (JSON-RPC over stdio)",
  runtime: "Runtime specification",
  decisions: "Design decisions",
  adr18: "ADR 0018 Streams, queues and claims",
} as const;

export interface Requirement {
  readonly text: string;
  readonly document: keyof typeof documents;
  readonly section: string;
  readonly wires: readonly Wire[];
}

const EVERY = ["in-process", "rest", "ws", "plain", "rpc"] as const;
/** Wires that carry every command. */
const COMMANDS = ["in-process", "rest", "ws", "rpc"] as const;
/** Wires that carry canonical events. */
const CANONICAL = ["in-process", "rest", "ws"] as const;
const HTTP = ["rest", "ws", "plain"] as const;
const BYTES = ["rest", "ws", "plain", "rpc"] as const;
/** Wires with a handshake. */
const SHAKEN = ["rest", "ws", "rpc"] as const;

export const requirements = {
  "handshake:first": row(
    SHAKEN,
    "service",
    "Handshake",
    "A command before the handshake is refused with HandshakeRequired.",
  ),
  "handshake:fields": row(
    SHAKEN,
    "service",
    "Handshake",
    "The handshake tells versions, kinds of commands and events, features and the resource scheme.",
  ),
  "handshake:kinds": row(
    SHAKEN,
    "service",
    "Handshake",
    "Every command and event of the first protocol version is listed.",
  ),
  "handshake:features": row(SHAKEN, "service", "Handshake", "What is beyond the first commands has a feature flag."),
  "handshake:version": row(
    ["rest", "ws"],
    "service",
    "Handshake",
    "A client of another major version is refused with HandshakeVersionMismatch.",
  ),
  "handshake:exempt": row(
    ["plain"],
    "decisions",
    "Answers: Handshake",
    "The three routes of the small surface need no handshake.",
  ),

  "turn:accepted": row(
    EVERY,
    "service",
    "REST surface",
    "An input is accepted before its turn has ended, with the id of the turn.",
  ),
  "turn:brackets": row(
    EVERY,
    "decisions",
    "Answers: Log",
    "A turn is one TurnStarted, then what happens, then exactly one TurnEnded.",
  ),
  "turn:answer": row(
    EVERY,
    "service",
    "Canonical event envelope",
    "The text of the answer arrives whole and in order.",
  ),
  "turn:originator": row(
    EVERY,
    "service",
    "Multi-client semantics",
    "Every event of a turn names the client whose input started it, the same on all of them.",
  ),
  "turn:one-at-a-time": row(
    EVERY,
    "service",
    "Multi-client semantics",
    "A second input while a turn runs is refused with TurnInProgress and starts nothing later.",
  ),
  "turn:next": row(
    EVERY,
    "decisions",
    "Answers: Log",
    "Whoever sees the end of a turn can start the next one at once.",
  ),
  "turn:cancel": row(
    EVERY,
    "service",
    "Control plane",
    "A cancel ends the running turn, which is recorded as cancelled.",
  ),
  "turn:cancel-idle": row(
    ["in-process", "rest", "ws", "plain"],
    "service",
    "Control plane",
    "A cancel while nothing runs changes nothing.",
  ),
  "turn:wait": row(
    ["rest"],
    "service",
    "REST surface",
    "With wait=turn the request is answered when the turn has ended, with answer, cost, steps and tools.",
  ),
  "turn:detached": row(
    ["in-process", "rest", "ws", "plain"],
    "service",
    "Multi-client semantics",
    "A turn goes on to its end when the client that watched it is gone.",
  ),
  "turn:queue": row(
    COMMANDS,
    "decisions",
    "Loop",
    "A queued input starts a turn of its own after the running one, once.",
  ),
  "turn:queue-restart": row(
    COMMANDS,
    "decisions",
    "Loop",
    "A queued input is delivered exactly once, also when the program is killed before its turn.",
  ),
  "turn:steer": row(
    COMMANDS,
    "decisions",
    "Loop",
    "What a running turn is told is in the log and reaches the model at its next step.",
  ),
  "turn:steer-idle": row(
    COMMANDS,
    "decisions",
    "Loop",
    "Telling a turn something while none runs is refused with NoTurnRunning.",
  ),
  "turn:plan-mode": row(
    COMMANDS,
    "service",
    "Control plane",
    "In plan mode a call that changes things does not run; after the plan is approved it can.",
  ),

  "permission:asked": row(
    EVERY,
    "service",
    "Multi-client semantics",
    "A call that changes things is announced to attached clients before it runs, and waits.",
  ),
  "permission:allow": row(COMMANDS, "service", "Multi-client semantics", "A human's yes lets the call run."),
  "permission:deny": row(
    COMMANDS,
    "service",
    "Multi-client semantics",
    "A human's no keeps the call from running; the model is told and the turn goes on.",
  ),
  "permission:once": row(
    COMMANDS,
    "decisions",
    "Permissions",
    "A yes for one call holds for that call: the next one asks again.",
  ),
  "permission:always": row(COMMANDS, "decisions", "Permissions", "A yes for the tool holds until the session ends."),
  "permission:first-human": row(
    COMMANDS,
    "service",
    "Multi-client semantics",
    "The first answer of a human counts; later ones change nothing.",
  ),
  "permission:agent": row(COMMANDS, "service", "Hard rule 11", "An agent cannot answer for the turn it started."),
  "permission:timeout": row(
    ["in-process", "rest", "ws", "plain"],
    "service",
    "Observability of agent-driven sessions",
    "A question that nobody answers within a minute is a no, and the turn goes on.",
  ),
  "permission:unknown": row(
    COMMANDS,
    "rpc",
    "Error codes",
    "An answer to something that nobody asked is refused as not found.",
  ),

  "stream:order": row(
    EVERY,
    "service",
    "Stream resume",
    "What is seen is what the log has, in the order of the log, nothing left out and nothing twice.",
  ),
  "stream:envelope": row(
    CANONICAL,
    "service",
    "Canonical event envelope",
    "Every event is the canonical JSON; the framing repeats its id and kind.",
  ),
  "stream:ids": row(CANONICAL, "service", "Canonical event envelope", "Event ids of a session rise by one, from 1."),
  "stream:durable": row(
    COMMANDS,
    "decisions",
    "What others learned 1",
    "An event that a client has seen is in the log, with the same id.",
  ),
  "stream:resume": row(
    ["in-process", "rest", "ws", "rpc"],
    "service",
    "Stream resume",
    "A client that names the last event it has seen gets all later ones, in order, then what happens.",
  ),
  "stream:resume-live": row(
    CANONICAL,
    "service",
    "Stream resume",
    "A client that comes back in the middle of a turn misses nothing and gets nothing twice.",
  ),
  "stream:unknown-id": row(
    CANONICAL,
    "adr18",
    "Decision",
    "A client that names an event the log does not have is refused.",
  ),
  "stream:same-for-all": row(
    ["in-process", "rest", "ws", "plain"],
    "service",
    "Multi-client semantics",
    "All attached clients of a session see the same events.",
  ),
  "stream:restart": row(
    ["in-process", "rest", "ws", "rpc"],
    "service",
    "Stream resume",
    "After a restart the session opens again, its events replay and new ids go on from the log.",
  ),
  "stream:cut-off": row(
    ["in-process", "rest", "ws", "rpc"],
    "decisions",
    "What others learned 2",
    "A turn that a kill cut off is ended in the log, and a call that changes things does not run again by itself.",
  ),
  "stream:ttl": row(
    CANONICAL,
    "service",
    "Stream resume",
    "Where content has passed its time, a resume begins with a StreamGap of reason ttl, and the available events follow.",
  ),
  "stream:slow": row(
    ["rest", "ws"],
    "decisions",
    "What others learned 8",
    "A client that does not read loses events and is told which by a StreamGap; the engine goes on.",
  ),
  "stream:slow-resume": row(
    ["rest", "ws"],
    "decisions",
    "What others learned 8",
    "What a slow client has lost it gets when it comes back with its last id.",
  ),
  "stream:heartbeat": row(
    ["rest", "ws", "plain"],
    "core",
    "SSE endpoint",
    "An idle stream gives a sign of life every 30 seconds.",
  ),
  "stream:redacted": row(
    EVERY,
    "decisions",
    "Sessions and storage",
    "A secret in an input is on no stream and in no log.",
  ),

  "input:unknown-fields": row(
    SHAKEN,
    "service",
    "Unknown-field policy",
    "Fields that a command does not have are ignored.",
  ),
  "input:unknown-verb": row(SHAKEN, "service", "Hard rule 14", "A command that the protocol does not have is refused."),
  "input:wrong-type": row(
    BYTES,
    "rpc",
    "Error codes",
    "A field of the wrong type is refused as invalid, with a reason.",
  ),
  "input:malformed": row(BYTES, "rpc", "Error codes", "What is not JSON is refused as such."),
  "input:utf8": row(BYTES, "decisions", "What others learned 14", "What is not UTF-8 is refused, never repaired."),
  "input:too-large": row(BYTES, "runtime", "4 Core invariants", "A message above the bound is refused or cut off."),
  "input:survives": row(
    BYTES,
    "runtime",
    "12.2 Reliability tests",
    "After a bad message the server and the other clients go on as before.",
  ),
  "input:repeated-frame": row(["ws"], "adr18", "Decision", "A frame that is sent again is not carried out again."),
  "input:unknown-frame": row(
    ["ws"],
    "decisions",
    "Answers: WebSocket frames",
    "A frame of another kind is refused and the socket stays open.",
  ),
  "input:unknown-session": row(EVERY, "rpc", "Error codes", "A session that does not exist is refused as not found."),
  "input:unknown-namespace": row(
    COMMANDS,
    "service",
    "Control plane",
    "A CustomCommand for a namespace that nobody claimed is refused.",
  ),

  "auth:required": row(
    HTTP,
    "service",
    "Authentication",
    "A request without a token is refused, on a Unix socket as well.",
  ),
  "auth:unknown": row(
    HTTP,
    "service",
    "Authentication",
    "A request with a token that the server does not know is refused.",
  ),
  "auth:host": row(
    ["rest"],
    "service",
    "Listening and binding",
    "A request for another Host, or with two Host headers, is refused.",
  ),
  "auth:origin": row(
    ["rest"],
    "service",
    "Listening and binding",
    "A page of an origin that is not listed is refused, its preflight as well.",
  ),
  "auth:expired": row(
    ["rest", "ws"],
    "service",
    "Token expiry mid-turn",
    "A command with a token that has passed its time is refused with TokenExpired.",
  ),

  "session:listed": row(
    ["rest", "rpc"],
    "service",
    "Concurrent-worktree deployment model",
    "A new session is in the list, with its working folder.",
  ),
  "session:end": row(CANONICAL, "service", "REST surface", "Ending a session tells its clients, and its log stays."),
  "session:reopen": row(
    CANONICAL,
    "service",
    "Idle-shutdown and resource lifecycle",
    "A session that has ended can be opened again and goes on in the same log.",
  ),
  "session:log": row(
    ["rest"],
    "service",
    "REST surface",
    "The log can be read a page at a time; the pages are the whole of it.",
  ),
  "session:export": row(
    ["rest"],
    "service",
    "SQLite session log: private schema",
    "An export is JSON lines of canonical events.",
  ),
  "session:branch": row(
    ["rest"],
    "service",
    "Persistence: Branch",
    "A branch is a new session with the events up to the end of a turn; the first stays as it is.",
  ),
  "session:undo": row(
    COMMANDS,
    "decisions",
    "Answers: New verbs",
    "What calls of a turn changed can be taken back, once, and is recorded.",
  ),
  "catalog:routes": row(
    ["rest"],
    "service",
    "REST surface",
    "The lists of tools, providers, profiles, skills, MCP servers and slash commands answer.",
  ),
  "catalog:health": row(
    ["rest"],
    "runtime",
    "14 Operational runbook notes",
    "The health route tells that it is there and its version.",
  ),
  "catalog:openapi": row(["rest"], "service", "REST surface", "The routes are described as OpenAPI 3.1."),

  "plain:events": row(
    ["plain"],
    "core",
    "Event types",
    "user, text, reasoning, tool_call, tool_result and status have their fields.",
  ),
  "plain:default": row(
    ["plain"],
    "decisions",
    "Answers: Handshake",
    "A prompt that names no session goes to the one that the listener keeps.",
  ),

  "rpc:initialize": row(
    ["rpc"],
    "rpc",
    "initialize",
    "initialize tells the version of the surface and its capabilities.",
  ),
  "rpc:threads": row(["rpc"], "rpc", "Types", "A thread has its id, title, folder and times, in create, list and get."),
  "rpc:created": row(["rpc"], "rpc", "Notifications", "A new thread is announced."),
  "rpc:items": row(
    ["rpc"],
    "rpc",
    "Item types",
    "Messages, calls, approvals and artifacts are items: begun, then completed, with ids of their own.",
  ),
  "rpc:method": row(
    ["rpc"],
    "rpc",
    "Error codes",
    "An unknown method is -32601, wrong parameters are -32602, what is no request is -32600, an unreadable line -32700.",
  ),
  "rpc:turn-not-found": row(["rpc"], "rpc", "Error codes", "Cancelling a turn that is not there is -32003."),
  "rpc:notification": row(
    ["rpc"],
    "runtime",
    "12.1 Contract tests",
    "An unknown notification ends nothing and is not answered.",
  ),
  "rpc:framing": row(["rpc"], "decisions", "What others learned 14", "Lines end at a line feed and nowhere else."),
  "rpc:pristine": row(
    ["rpc"],
    "runtime",
    "5.1 Stdio transport",
    "Standard output holds JSON-RPC messages and nothing else.",
  ),
  "rpc:exit": row(["rpc"], "rpc", "Transport", "The program ends with 0 when its input ends."),
} as const satisfies Readonly<Record<string, Requirement>>;

export type RequirementId = keyof typeof requirements;

export function isRequirement(id: string): id is RequirementId {
  return Object.hasOwn(requirements, id);
}

function row(
  wires: Requirement["wires"],
  document: Requirement["document"],
  section: string,
  text: string,
): Requirement {
  return { text, document, section, wires };
}
