/** What all sessions of a program share, and how the program is put together. */
export { assembleHarness } from "./assemble.ts";
export type { BuildInfo } from "./build-info.ts";
export { type PortionBound, type RetentionPortion, retentionPortion } from "./daily-retention.ts";
export { openEmbeddedProject } from "./embedded-project.ts";
export type { EventWatch } from "./event-watch.ts";
export { expiringText, tellExpiring } from "./expiry-banner.ts";
export { kindNames, powers } from "./file-kinds.ts";
export { keyState } from "./key-state.ts";
export { createLogRedaction } from "./log-redaction.ts";
export {
  closeProgram,
  loadSettings,
  type OpenedProgram,
  type OpenOptions,
  openProgram,
  projectPlace,
  userFlags,
} from "./open.ts";
export type { Harness, HarnessOptions, Health } from "./options.ts";
export type { OutwardRedactor, OutwardText, ProgramPorts } from "./ports.ts";
export { trustDirectory, trustKeys } from "./project-keys.ts";
export {
  type ConditionCheck,
  type ConditionResult,
  conditionCheck,
  isBareProject,
  locateProject,
  lookAtProject,
  mayHaveProject,
  namesProject,
  type OpenedProject,
  openProject,
  PROJECT_FILES,
  type ProjectPlace,
  problemText,
  soundProject,
} from "./projects.ts";
export { beginDump, dumpFile, endDump } from "./raw-dump.ts";
export { assembleRedactor } from "./redaction.ts";
export { retentionPolicy } from "./retention-policy.ts";
export type { ContextValues, RunFlags } from "./run-flags.ts";
export { type LogFlags, logFolder, openServiceLog } from "./service-log.ts";
export {
  findSession,
  headsOf,
  idStart,
  logOf,
  logWith,
  SEARCHED_SESSIONS,
  type StoreFlags,
  withStore,
} from "./session-store.ts";
export { cleanEvent, cleanTranscript, exportPieces, readEvents } from "./session-texts.ts";
export { settledMs } from "./settled-time.ts";
export { defaultTokenFile, describeClaims, type TokenParts, timeOf, tokenParts } from "./token-parts.ts";
export {
  ackRefusal,
  awaitingNames,
  lockFilePath,
  type ReviewFiles,
  readLockFile,
  type TrustedProject,
  userTrust,
} from "./trusted-project.ts";
export { undoDirectory, undoKey, undoPlace } from "./undo-place.ts";
export { configFile, loadConfig } from "./user-config-file.ts";
