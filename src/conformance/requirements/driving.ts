/** Requirements of driving a session: hands are shaken, turns run, questions are answered. */
import { CANONICAL, COMMANDS, cited, EVERY, type Requirement, SHAKEN } from "./row.ts";

export const drivingRequirements = {
  ...cited("service", "Handshake", SHAKEN, {
    "handshake:first": "A command before the handshake is refused with HandshakeRequired.",
    "handshake:fields": "The handshake tells versions, kinds of commands and events, features and the resource scheme.",
    "handshake:kinds": "Every command and event of the first protocol version is listed.",
    "handshake:features": "What is beyond the first commands has a feature flag.",
  }),
  ...cited("service", "Handshake", ["rest", "ws"], {
    "handshake:version": "A client of another major version is refused with HandshakeVersionMismatch.",
  }),
  ...cited("decisions", "Answers: Handshake", ["plain"], {
    "handshake:exempt": "The three routes of the small surface need no handshake.",
  }),
  ...cited("service", "REST surface", EVERY, {
    "turn:accepted": "An input is accepted before its turn has ended, with the id of the turn.",
  }),
  ...cited("decisions", "Answers: Log", EVERY, {
    "turn:brackets": "A turn is one TurnStarted, then what happens, then exactly one TurnEnded.",
    "turn:next": "Whoever sees the end of a turn can start the next one at once.",
  }),
  ...cited("service", "Canonical event envelope", EVERY, {
    "turn:answer": "The text of the answer arrives whole and in order.",
  }),
  ...cited("service", "Multi-client semantics", EVERY, {
    "turn:originator": "Every event of a turn names the client whose input started it, the same on all of them.",
    "turn:one-at-a-time": "A second input while a turn runs is refused with TurnInProgress and starts nothing later.",
  }),
  ...cited("service", "Glossary: AttachContext, OriginatorID", CANONICAL, {
    "turn:attachment": "An attachment is a client for as long as it lasts: two with one token are two clients.",
  }),
  ...cited("service", "Control plane", EVERY, {
    "turn:cancel": "A cancel ends the running turn, which is recorded as cancelled.",
  }),
  ...cited("service", "Control plane", ["in-process", "rest", "ws", "plain"], {
    "turn:cancel-idle": "A cancel while nothing runs changes nothing.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "turn:wait": "With wait=turn the request is answered when the turn has ended, with answer, cost, steps and tools.",
  }),
  ...cited("service", "Multi-client semantics", ["in-process", "rest", "ws", "plain"], {
    "turn:detached": "A turn goes on to its end when the client that watched it is gone.",
  }),
  ...cited("decisions", "Loop", COMMANDS, {
    "turn:queue": "A queued input starts a turn of its own after the running one, once.",
    "turn:queue-restart": "A queued input is delivered exactly once, also when the program is killed before its turn.",
    "turn:steer": "Text sent to a running turn is in the log and reaches the model at its next step.",
    "turn:steer-idle": "Telling a turn something while none runs is refused with NoTurnRunning.",
  }),
  ...cited("service", "Control plane", COMMANDS, {
    "turn:plan-mode": "In plan mode a call that changes things does not run; after the plan is approved it can.",
  }),
  ...cited("service", "Multi-client semantics", EVERY, {
    "permission:asked": "A call that changes things is announced to attached clients before it runs, and waits.",
  }),
  ...cited("service", "Multi-client semantics", COMMANDS, {
    "permission:allow": "A human's yes lets the call run.",
    "permission:deny": "When a person denies a call, it does not run; the model learns why and the turn continues.",
    "permission:first-human": "The first answer of a human counts; later ones change nothing.",
  }),
  ...cited("decisions", "Permissions", COMMANDS, {
    "permission:once": "An approval for one call covers only that call; the next call asks again.",
    "permission:always": "An approval for a tool lasts until the session ends.",
  }),
  ...cited("service", "Hard rule 11", COMMANDS, {
    "permission:agent": "An agent cannot answer for the turn it started.",
  }),
  ...cited("adr19", "Decision", COMMANDS, {
    "permission:agent-steers":
      "An agent changes neither the rules of a session nor the values that conditions look at.",
  }),
  ...cited("service", "Observability of agent-driven sessions", ["in-process", "rest", "ws", "plain"], {
    "permission:timeout": "A question that nobody answers within a minute is a no, and the turn goes on.",
  }),
  ...cited("rpc", "Error codes", COMMANDS, {
    "permission:unknown": "An answer to something that nobody asked is refused as not found.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
