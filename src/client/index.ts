/**
 * Sessions of an engine from another program, over any of its wires: commands in, events out, each once and in order, also when the
 * connection or the server goes away in between. `import { connect } from "harness-runtime/client"`.
 */
export {
  type CallId,
  type Command,
  type CommandOf,
  type Decision,
  type Event,
  type EventOf,
  type Handshake,
  type InputBlock,
  type Reason,
  ReasonError,
  type ReplyOf,
  SessionId,
  type SessionInfo,
  type TurnId,
} from "#protocol";
export type {
  Client,
  ClientSession,
  EngineClient,
  EventsOptions,
  Input,
  OpenOptions,
  SessionCommand,
} from "./client.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { LocalEngine } from "./local-transport.ts";
export type { ReconnectOptions } from "./retry.ts";
export type { DaemonTarget, EngineTarget, ProgramTarget, Target } from "./target.ts";
export type { SessionFilter } from "./transport.ts";
