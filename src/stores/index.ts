/** The append-only session log, its stores, and what can be rebuilt from it. */
export { delegatedBy, refuseDelegate, type SessionMeta, type SessionStore } from "#engine";
export type { ArchiveStore } from "./archive.ts";
export { loadAudit } from "./audit.ts";
export type { Checkpoint, Signer } from "./checkpoint.ts";
export { diagnoseStore, type Finding } from "./doctor.ts";
export type { EvidenceItem } from "./evidence-lines.ts";
export { isExpired } from "./expired-payload.ts";
export { compareHead, type HeadComparison, headProblem, seen } from "./head-comparison.ts";
export type { HeadWitness } from "./head-witness.ts";
export { logFiles, openStore, type StoreChoice, type StoreKindName } from "./kinds.ts";
export {
  createKnownHeads,
  forgetLostLogs,
  type HeadsPlace,
  headsDirectory,
  type KnownHeads,
  sealHeadsFor,
} from "./known-heads.ts";
export { deriveKey, type MachineKey, machineKey, machineKeyFiles, machineKeySource } from "./machine-key.ts";
export { machineKeychain } from "./machine-keychain.ts";
export { createMemoryStore } from "./memory-store.ts";
export {
  foldersApart,
  harnessCache,
  harnessPaths,
  heldNames,
  ownFolders,
  scratchBase,
  serverFolders,
  worktreeBase,
} from "./paths.ts";
export { loadPortability } from "./portability.ts";
export { rotateKeyFile } from "./rekey.ts";
export type { Replay, ReplayFrame } from "./replay.ts";
export {
  defaultRetention,
  type ExpiringSession,
  expiringSessions,
  MIN_BATCH_EVENTS,
  type RetentionPolicy,
  runRetention,
} from "./retention.ts";
export { sessionFields } from "./session-fields.ts";
export { createSigner, openSigningKey, readSigningKey } from "./signing-key.ts";
export { openSqliteStore } from "./sqlite/store.ts";
export type { TranscriptPart } from "./transcript.ts";
export type { Verdict } from "./verify.ts";
export { findWaitingInputs } from "./waiting-inputs.ts";
