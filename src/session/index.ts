/** One session of a program: opened from what the program hands to it, with its chains, its engine and its world. */
export type {
  AddedTransport,
  Extensions,
  OpenedProject,
  OpenProject,
  SessionDependencies,
  Undo,
} from "./dependencies.ts";
export { openSession } from "./open.ts";
export { prepareSandbox, type SessionSandbox } from "./sandbox.ts";
export { createSessionServers, type SessionServers } from "./servers.ts";
export { noTape, type ProgramTape } from "./tape.ts";
