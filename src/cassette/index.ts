/** Recording a session and replaying it. */
export { checkPlace, readCassette, writeCassette } from "./cassette-file.ts";
export { printCassette } from "./cassette-text.ts";
export type { Cassette, CassetteHead, Entry } from "./entries.ts";
export { createPlayer } from "./player.ts";
export { createRecorder } from "./recorder.ts";
export type { CassetteRedactor } from "./secrets.ts";
export { PLAYED_KINDS, type Tape, type TapedClient } from "./tape.ts";
export { tapedFacts, tapedPorts } from "./taped-ports.ts";
export { tapedProvider } from "./taped-provider.ts";
export { createWorkspaceChanges } from "./workspace-changes.ts";
