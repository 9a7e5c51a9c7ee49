/** The append-only session log, its stores, and what can be rebuilt from it. */
export type { ArchiveStore } from "./archive.ts";
export { createMemoryStore } from "./memory-store.ts";
export { type HarnessPaths, harnessPaths } from "./paths.ts";
export { loadPortability } from "./portability.ts";
export type { Replay, ReplayFrame } from "./replay.ts";
export { openSqliteStore } from "./sqlite-store.ts";
