/** Requirements for driving a session: the handshake, turns, and permission requests. */
import { CANONICAL, COMMANDS, cited, EVERY, type Requirement, SHAKEN } from "./row.ts";

export const drivingRequirements = {
  ...cited("service", "Handshake", SHAKEN, {
    "handshake:first": "A command before the handshake is refused with HandshakeRequired.",
    "handshake:fields": "The handshake reports versions, command kinds, event kinds, features and the resource scheme.",
    "handshake:kinds": "The handshake lists every command and event of the first protocol version.",
    "handshake:features": "Every addition to the first protocol version has a feature flag.",
  }),
  ...cited("service", "Handshake", ["rest", "ws"], {
    "handshake:version": "A client of another major version is refused with HandshakeVersionMismatch.",
  }),
  ...cited("decisions", "Answers: Handshake", ["plain"], {
    "handshake:exempt": "The three routes of the small surface do not need a handshake.",
  }),
  ...cited("service", "REST surface", EVERY, {
    "turn:accepted": "The server accepts an input before its turn ends, and returns the turn id.",
  }),
  ...cited("decisions", "Answers: Log", EVERY, {
    "turn:brackets": "A turn consists of one TurnStarted, its events, and exactly one TurnEnded.",
    "turn:next": "A client that sees a turn end can start the next turn at once.",
  }),
  ...cited("service", "Canonical event envelope", EVERY, {
    "turn:answer": "The text of the answer arrives complete and in order.",
  }),
  ...cited("service", "Multi-client semantics", EVERY, {
    "turn:originator": "Every event of a turn names the client whose input started the turn.",
    "turn:one-at-a-time": "A second input during a turn is refused with TurnInProgress and never starts a turn later.",
  }),
  ...cited("service", "Glossary: AttachContext, OriginatorID", CANONICAL, {
    "turn:attachment": "Each attachment counts as a client of its own, even when two of them share a token.",
  }),
  ...cited("service", "Control plane", EVERY, {
    "turn:cancel": "A cancel ends the running turn, and the log records the turn as cancelled.",
  }),
  ...cited("service", "Control plane", ["in-process", "rest", "ws", "plain"], {
    "turn:cancel-idle": "A cancel while no turn runs changes nothing.",
  }),
  ...cited("service", "REST surface", ["rest"], {
    "turn:wait": "With wait=turn, the response arrives after the turn ends and holds answer, cost, steps and tools.",
  }),
  ...cited("service", "Multi-client semantics", ["in-process", "rest", "ws", "plain"], {
    "turn:detached": "A turn continues to its end after the client that watched it disconnects.",
  }),
  ...cited("decisions", "Loop", COMMANDS, {
    "turn:queue": "A queued input starts its own turn after the running one, exactly once.",
    "turn:queue-restart": "A queued input is delivered exactly once, even if the program is killed before its turn.",
    "turn:steer": "Text sent to a running turn is logged and reaches the model at its next step.",
    "turn:steer-idle": "Text for a running turn is refused with NoTurnRunning when no turn runs.",
  }),
  ...cited("service", "Control plane", COMMANDS, {
    "turn:plan-mode": "In plan mode, a call with side effects does not run; once the plan is approved, it can.",
  }),
  ...cited("service", "Multi-client semantics", EVERY, {
    "permission:asked": "A call with side effects waits for permission, and attached clients see the request first.",
  }),
  ...cited("service", "Multi-client semantics", COMMANDS, {
    "permission:allow": "When a person allows a call, it runs.",
    "permission:deny": "When a person denies a call, it does not run; the model learns why and the turn continues.",
    "permission:first-human": "The first answer from a person counts; later answers change nothing.",
  }),
  ...cited("decisions", "Permissions", COMMANDS, {
    "permission:once": "An approval for one call covers only that call; the next call asks again.",
    "permission:always": "An approval for a tool lasts until the session ends.",
  }),
  ...cited("service", "Hard rule 11", COMMANDS, {
    "permission:agent": "An agent cannot answer permission requests of a turn that it started.",
  }),
  ...cited("adr19", "Decision", COMMANDS, {
    "permission:agent-steers":
      "An agent can change neither the rules of a session nor the values that conditions read.",
  }),
  ...cited("service", "Observability of agent-driven sessions", ["in-process", "rest", "ws", "plain"], {
    "permission:timeout":
      "If nobody answers a permission request within a minute, the call is denied and the turn continues.",
  }),
  ...cited("rpc", "Error codes", COMMANDS, {
    "permission:unknown": "An answer to a permission request that does not exist is refused as not found.",
  }),
} as const satisfies Readonly<Record<string, Requirement>>;
