/** What all sessions of a program share, and how the program is put together. */

// What commands show and change of the parts. Whatever they put together is put together here.
export {
  type Claims,
  createIssuance,
  DEFAULT_COMMANDS,
  mintClaims,
  phaseOf,
  readTokenFile,
  signToken,
  TOKEN_FILE_MODE,
  type TokenRecord,
  tokenFileText,
} from "#auth";
export { basePrompt, promptBlocks } from "#context";
export {
  type CredentialInfo,
  type CredentialStore,
  createCredentialStore,
  createKeychain,
  isCredentialName,
  MAX_BOUND_HOSTS,
  MAX_SECRET_BYTES,
} from "#credentials";
export type { CredentialPort, ModelInfo } from "#engine";
export {
  type ComparedCall,
  createPolicyDiff,
  deniedPrograms,
  isSecretFile,
  policyOf,
  RECORDED,
  type RecordedCall,
  type RecordedSession,
  type Redecided,
  type SuggestedRule,
  type Suggestions,
  suggestRules,
} from "#governance";
export { createProvider, findVendor, loadScenario, type ModelConfig, staticModels, vendors } from "#providers";
export type { Redactor, StreamRedactor, UserPattern } from "#redaction";
export { createSandboxes, type Probe, type SandboxPolicy, type SandboxStatus } from "#sandbox";
export type { AddedTransport } from "#session";
export { factsOf } from "#tools";
export { createLockFileTrust, type ProjectTrust, type WaitingFile, writeLock } from "#trust";
export type { UndoReport, UndoTarget } from "#undo";
export {
  dropReview,
  installForReview,
  keepAnswer,
  lookAtServer,
  type ServerReview,
} from "./approve-server.ts";
export { assembleHarness } from "./assemble.ts";
export { archiveOf, branchOf } from "./branch.ts";
export { credentialKey } from "./credential-key.ts";
export { type PortionBound, type RetentionPortion, retentionPortion } from "./daily-retention.ts";
export { openEmbeddedProject } from "./embedded-project.ts";
export type { EventWatch } from "./event-watch.ts";
export { expiringSessionIds, expiringText, expiryBannerText, hideExpiring, tellExpiring } from "./expiry-banner.ts";
export { git } from "./git.ts";
export { imageBlock, MAX_IMAGE_BYTES, readImageFile, readTextFile } from "./input-files.ts";
export { rotateKeys } from "./key-rotation.ts";
export { keyState } from "./key-state.ts";
export { localModels } from "./local-models.ts";
export { createOutwardRedactor } from "./log-redaction.ts";
export {
  changeConfiguredServers,
  checkServerChange,
  configuredServers,
  knownServers,
  openConfiguredServers,
  ownPin,
  programProblem,
  type ServerFlags,
} from "./mcp-servers.ts";
export { openMemories } from "./memory.ts";
export {
  closeProgram,
  loadSettings,
  type OpenedProgram,
  type OpenOptions,
  openProgram,
  projectPlace,
  scenarioFile,
  tellOffline,
} from "./open.ts";
export type { Harness, HarnessOptions } from "./options.ts";
export { loadPolicy, type PolicyFlags } from "./policy-source.ts";
export type { OutwardRedactor, OutwardText, ProgramPorts } from "./ports.ts";
export { profileNamed, withProfile } from "./profiles.ts";
export { trustDirectory } from "./project-keys.ts";
export { namesProject } from "./project-names.ts";
export { previewProject } from "./project-preview.ts";
export {
  declaredServers,
  type ReviewServers,
  type ServerAnswers,
  unansweredServers,
  usedServers,
} from "./project-servers.ts";
export {
  type ConditionCheck,
  type ConditionResult,
  conditionCheck,
  expressionTexts,
  locateProject,
  lookAtProject,
  mayHaveProject,
  type OpenedProject,
  openProject,
  optionalPlaces,
  PROJECT_FILES,
  type ProjectPlace,
  problemText,
  soundProject,
  userFlags,
} from "./projects.ts";
export { beginDump, dumpFile, endDump } from "./raw-dump.ts";
export { chosenSessions, recordedSession, type SessionFlags } from "./recorded-sessions.ts";
export { assembleRedactor } from "./redaction.ts";
export { retentionPolicy } from "./retention-policy.ts";
export type { ContextValues, RunFlags } from "./run-flags.ts";
export { loginAtServer, openBrowser } from "./server-login.ts";
export { installPackage, packageOf, removePackage } from "./server-package.ts";
export { type LogFlags, logFolder, openServiceLog } from "./service-log.ts";
export type { SessionPreview } from "./session-preview.ts";
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
export { type DaemonSeen, subsystemLines, subsystemsOf } from "./subsystems.ts";
export { defaultTokenFile, describeClaims, type TokenParts, timeOf, tokenParts } from "./token-parts.ts";
export { waitingTools } from "./tool-approval.ts";
export {
  ackCommand,
  ackRefusal,
  awaitingNames,
  lockFilePath,
  type ReviewFiles,
  readLockFile,
} from "./trusted-project.ts";
export { restoreFolder, undoForgetter } from "./undo-folder.ts";
export { undoPlace } from "./undo-place.ts";
export { configFile, loadConfig } from "./user-config-file.ts";
export { pluginFacts } from "./user-plugins.ts";
export { userTrust } from "./user-trust.ts";
