/** Memories: how they are kept on disk, found by an input, and chosen for a turn. */
export { memoryFolders } from "./folders.ts";
export { createRanking, keyOf, type MemoryRanking } from "./ranking.ts";
export { type ConsideredMemory, chooseMemories, coreMemories, TURN_TOKENS } from "./selection.ts";
export { createMemoryStore, type MemoryStoreOptions, type OwnMemoryStore } from "./store.ts";
