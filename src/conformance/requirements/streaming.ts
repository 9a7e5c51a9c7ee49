/** Requirements for event streams and for how servers handle bad input. */
import { BYTES, CANONICAL, COMMANDS, cited, EVERY, type Requirement, SHAKEN } from "./row.ts";

export const streamingRequirements = {
  ...cited("service", "Stream resume", EVERY, {
    "stream:order": "A stream shows exactly the events in the log, in log order, each once.",
  }),
  ...cited("service", "Canonical event envelope", CANONICAL, {
    "stream:envelope": "Every event is canonical JSON, and the framing repeats its id and kind.",
    "stream:ids": "Event ids of a session start at 1 and increase by one.",
  }),
  ...cited("decisions", "What others learned 1", COMMANDS, {
    "stream:durable": "An event that a client has seen is in the log with the same id.",
  }),
  ...cited("service", "Stream resume", ["in-process", "rest", "ws", "rpc"], {
    "stream:resume": "A client that names the last event it saw gets all later events in order, then new ones.",
    "stream:restart": "After a restart the session can be reopened, its events replay, and event ids continue.",
  }),
  ...cited("service", "Stream resume", CANONICAL, {
    "stream:resume-live": "A client that reconnects during a turn gets every event exactly once.",
    "stream:ttl":
      "If the content has expired, a resume starts with a StreamGap with reason ttl, then sends the available events.",
  }),
  ...cited("adr18", "Decision", CANONICAL, {
    "stream:unknown-id": "A client that names an event that the log does not contain is refused.",
  }),
  ...cited("service", "Multi-client semantics", ["in-process", "rest", "ws", "plain"], {
    "stream:same-for-all": "All attached clients of a session see the same events.",
  }),
  ...cited("decisions", "What others learned 2", ["in-process", "rest", "ws", "rpc"], {
    "stream:cut-off":
      "If a kill interrupts a turn, the log ends that turn; a call with side effects is not repeated automatically.",
  }),
  ...cited("decisions", "What others learned 8", ["rest", "ws"], {
    "stream:slow": "A client that does not read loses events, and a StreamGap names them; the engine does not wait.",
    "stream:slow-resume": "A slow client gets the events it lost when it reconnects with its last event id.",
  }),
  ...cited("core", "SSE endpoint", ["rest", "ws", "plain"], {
    "stream:heartbeat": "An idle stream sends a heartbeat every 30 seconds.",
  }),
  ...cited("decisions", "Sessions and storage", EVERY, {
    "stream:redacted": "A secret in an input appears on no stream and in no log.",
  }),
  ...cited("service", "Unknown-field policy", SHAKEN, {
    "input:unknown-fields": "Unknown fields of a command are ignored.",
  }),
  ...cited("service", "Hard rule 14", SHAKEN, {
    "input:unknown-verb": "An unknown command is refused.",
  }),
  ...cited("rpc", "Error codes", BYTES, {
    "input:wrong-type": "A field of the wrong type is refused as invalid, with a reason.",
    "input:malformed": "A message that is not JSON is refused with a parse error.",
  }),
  ...cited("decisions", "What others learned 14", BYTES, {
    "input:utf8": "A message that is not UTF-8 is refused, never repaired.",
  }),
  ...cited("runtime", "4 Core invariants", BYTES, {
    "input:too-large": "A message over the size limit is refused or cut off.",
  }),
  ...cited("runtime", "12.2 Reliability tests", BYTES, {
    "input:survives": "After a bad message, the server keeps serving this and other clients.",
  }),
  ...cited("adr18", "Decision", ["ws"], {
    "input:repeated-frame": "A frame that is sent twice is executed once.",
  }),
  ...cited("decisions", "Answers: WebSocket frames", ["ws"], {
    "input:unknown-frame": "A frame of an unknown kind is refused, and the socket stays open.",
  }),
  ...cited("rpc", "Error codes", EVERY, {
    "input:unknown-session": "A session that does not exist is refused as not found.",
  }),
  ...cited("service", "Control plane", COMMANDS, {
    "input:unknown-namespace": "A CustomCommand for an unclaimed namespace is refused.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
