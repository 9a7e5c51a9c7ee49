/** The append-only session log, its stores, and what can be rebuilt from it. */
export { deriveKey, type MachineKey, machineKey, machineKeySource } from "./machine-key.ts";
export { createMemoryStore } from "./memory-store.ts";
export { type HarnessPaths, harnessPaths } from "./paths.ts";
export { openSqliteStore } from "./sqlite-store.ts";
