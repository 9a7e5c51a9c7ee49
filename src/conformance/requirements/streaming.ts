/** Requirements of what streams carry, and of what servers do with bad input. */
import { BYTES, CANONICAL, COMMANDS, cited, EVERY, type Requirement, SHAKEN } from "./row.ts";

export const streamingRequirements = {
  ...cited("service", "Stream resume", EVERY, {
    "stream:order": "What is seen is what the log has, in the order of the log, nothing left out and nothing twice.",
  }),
  ...cited("service", "Canonical event envelope", CANONICAL, {
    "stream:envelope": "Every event is the canonical JSON; the framing repeats its id and kind.",
    "stream:ids": "Event ids of a session rise by one, from 1.",
  }),
  ...cited("decisions", "What others learned 1", COMMANDS, {
    "stream:durable": "An event that a client has seen is in the log, with the same id.",
  }),
  ...cited("service", "Stream resume", ["in-process", "rest", "ws", "rpc"], {
    "stream:resume": "A client that names the last event it has seen gets all later ones, in order, then what happens.",
    "stream:restart": "After a restart the session opens again, its events replay and new ids go on from the log.",
  }),
  ...cited("service", "Stream resume", CANONICAL, {
    "stream:resume-live": "A client that comes back in the middle of a turn misses nothing and gets nothing twice.",
    "stream:ttl":
      "Where content has passed its time, a resume begins with a StreamGap of reason ttl, and the available events follow.",
  }),
  ...cited("adr18", "Decision", CANONICAL, {
    "stream:unknown-id": "A client that names an event the log does not have is refused.",
  }),
  ...cited("service", "Multi-client semantics", ["in-process", "rest", "ws", "plain"], {
    "stream:same-for-all": "All attached clients of a session see the same events.",
  }),
  ...cited("decisions", "What others learned 2", ["in-process", "rest", "ws", "rpc"], {
    "stream:cut-off":
      "A turn that a kill cut off is ended in the log, and a call that changes things does not run again by itself.",
  }),
  ...cited("decisions", "What others learned 8", ["rest", "ws"], {
    "stream:slow": "A client that does not read loses events and is told which by a StreamGap; the engine goes on.",
    "stream:slow-resume": "What a slow client has lost it gets when it comes back with its last id.",
  }),
  ...cited("core", "SSE endpoint", ["rest", "ws", "plain"], {
    "stream:heartbeat": "An idle stream gives a sign of life every 30 seconds.",
  }),
  ...cited("decisions", "Sessions and storage", EVERY, {
    "stream:redacted": "A secret in an input is on no stream and in no log.",
  }),
  ...cited("service", "Unknown-field policy", SHAKEN, {
    "input:unknown-fields": "Fields that a command does not have are ignored.",
  }),
  ...cited("service", "Hard rule 14", SHAKEN, {
    "input:unknown-verb": "A command that the protocol does not have is refused.",
  }),
  ...cited("rpc", "Error codes", BYTES, {
    "input:wrong-type": "A field of the wrong type is refused as invalid, with a reason.",
    "input:malformed": "What is not JSON is refused as such.",
  }),
  ...cited("decisions", "What others learned 14", BYTES, {
    "input:utf8": "What is not UTF-8 is refused, never repaired.",
  }),
  ...cited("runtime", "4 Core invariants", BYTES, {
    "input:too-large": "A message above the bound is refused or cut off.",
  }),
  ...cited("runtime", "12.2 Reliability tests", BYTES, {
    "input:survives": "After a bad message the server and the other clients go on as before.",
  }),
  ...cited("adr18", "Decision", ["ws"], {
    "input:repeated-frame": "A frame that is sent again is not carried out again.",
  }),
  ...cited("decisions", "Answers: WebSocket frames", ["ws"], {
    "input:unknown-frame": "A frame of another kind is refused and the socket stays open.",
  }),
  ...cited("rpc", "Error codes", EVERY, {
    "input:unknown-session": "A session that does not exist is refused as not found.",
  }),
  ...cited("service", "Control plane", COMMANDS, {
    "input:unknown-namespace": "A CustomCommand for a namespace that nobody claimed is refused.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
