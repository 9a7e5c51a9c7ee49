/** Recording a session and replaying it. */
export { checkPlace, readCassette, writeCassette } from "./cassette-file.ts";
export type { CassetteHead, Entry } from "./entries.ts";
export { createPlayer } from "./player.ts";
export { createRecorder } from "./recorder.ts";
export type { CassetteRedactor } from "./secrets.ts";
export type { Tape, TapedClient } from "./tape.ts";
export { tapedMemory } from "./taped-memory.ts";
export { tapedFacts, tapedPorts } from "./taped-ports.ts";
export { tapedProvider } from "./taped-provider.ts";
export { createWorkspaceChanges } from "./workspace-changes.ts";
