/** One session of a program: opened from what the program hands to it, with its chains, its engine and its world. */

export type { AskAck } from "./acks.ts";
export type {
  AddedTransport,
  Extensions,
  OpenedProject,
  OpenProject,
  SessionDependencies,
  SessionProfiles,
  Undo,
} from "./dependencies.ts";
export type { AskForAck } from "./live-project.ts";
export { markdownEntry } from "./markdown-commands.ts";
export { openSession } from "./open.ts";
export { profileCommands } from "./profile-commands.ts";
export { createProgramServers } from "./program-servers.ts";
export { hasOwnToken } from "./remote-servers.ts";
export { prepareSandbox, type SessionSandbox } from "./sandbox.ts";
export { checkProgram, isInterpreter, refuseContainers, type ServerProgram, serverProgram } from "./server-program.ts";
export { createSessionServers, type SessionServers } from "./servers.ts";
export { noTape, type ProgramTape } from "./tape.ts";
