/** The append-only session log, its stores, and what can be rebuilt from it. */
export { type ArchiveStore, readRecords } from "./archive.ts";
export { branchSession } from "./branch.ts";
export { exportLines } from "./export.ts";
export { readTextLines } from "./file-lines.ts";
export { importSession } from "./import.ts";
export { openJsonlStore } from "./jsonl-store.ts";
export { createMemoryStore } from "./memory-store.ts";
export { type HarnessPaths, harnessPaths } from "./paths.ts";
export { createReplay, type Replay, type ReplayFrame } from "./replay.ts";
export { openSqliteStore } from "./sqlite-store.ts";
export { type TranscriptPart, transcript } from "./transcript.ts";
