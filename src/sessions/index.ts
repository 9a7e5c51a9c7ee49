/** The append-only session log, its stores, and what can be rebuilt from it. */
export {
  anchorLine,
  type Checkpoint,
  isPublicKey,
  parseAnchors,
  type Sign,
} from "./checkpoint.ts";
export { type EvidenceItem, type EvidenceSource, evidenceLine, readEvidenceLines } from "./evidence-lines.ts";
export { createMemoryStore } from "./memory-store.ts";
export { type HarnessPaths, harnessPaths } from "./paths.ts";
export { openSigningKey, readSigningKey, type SigningKey } from "./signing-key.ts";
export { openSqliteStore } from "./sqlite-store.ts";
export { type Finding, type Verdict, verifyEvidence } from "./verify.ts";
