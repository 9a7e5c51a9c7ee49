/** Ground everything stands on: ports to the world, ULIDs, middleware composition. */
export { type DomainEntry, domainAllowed, normalHost, parseDomainEntry } from "./allowed-domains.ts";
export { assertNever } from "./assert-never.ts";
export { boundHost, isBoundTo } from "./bound-hosts.ts";
export { canonicalHash, canonicalJson } from "./canonical-json.ts";
export { checkedAddresses, pinnedLookup, type Resolve, type ResolvedAddress } from "./checked-addresses.ts";
export { childEnvironment } from "./child-environment.ts";
export { compose, type Handler, type Middleware } from "./compose.ts";
export { CONCEAL_MIN_BYTES, type Concealer, createConcealer } from "./concealer.ts";
export { beginningOf, CUT_LOOK_CHARS, cutAtBlank, endOf, withoutCutEnd, withoutCutStart } from "./cut-text.ts";
export { type DiskTrouble, diskTrouble, diskTroubleText } from "./disk-trouble.ts";
export { createDomainList, type DomainList, isDomainEntry } from "./domain-list.ts";
export { fileErrorText } from "./file-error.ts";
export { foldedForms } from "./folded-forms.ts";
export { createHiddenFiles } from "./hidden-files.ts";
export { homeFolders } from "./home-folders.ts";
export { type JunitSuite, type JunitTest, junitXml } from "./junit-xml.ts";
export { makeFolder } from "./make-folder.ts";
export { createModelConnections, proxyVariables } from "./model-connections.ts";
export { nearestName } from "./nearest-name.ts";
export { once } from "./once.ts";
export { foldedSegments } from "./path-segments.ts";
export {
  type Clock,
  type Confinement,
  type DirectoryEntry,
  EffectError,
  type EffectPorts,
  type EffectReason,
  type FileInfo,
  type FilePort,
  type ProcessExit,
  type ProcessPort,
  type ProcessSpec,
  type Random,
  type WebPort,
  type WebPost,
  type WebRequest,
  type WebResponse,
} from "./ports.ts";
export {
  makePrivateDirectory,
  movePrivateFile,
  readOwnedFile,
  readPrivateFile,
  removeDrafts,
  removePrivateFile,
  rewritePrivateFile,
  writePrivateFile,
} from "./private-file.ts";
export { GATE_SCRIPT } from "./process-gate.ts";
export { isSameProcess, isStopped, processPlace, startMark } from "./process-mark.ts";
export {
  createProcesses,
  type DetachedProcess,
  type OwnProcess,
  type ProcessesOptions,
  startDetached,
  startOwnProcess,
  startPiped,
  startReaped,
} from "./processes.ts";
export { createProgramFacts, type ProgramFacts } from "./program-facts.ts";
export { createPublicWeb, listedHost, type PublicWebOptions } from "./public-web.ts";
export { realPath, realPathIfThere } from "./real-path.ts";
export { isRecord } from "./record.ts";
export { refusedWorkspace } from "./refused-workspace.ts";
export { createScratchFolders, type ScratchFolders } from "./scratch-folder.ts";
export { BOX_EXTRA_BYTES, BOX_KEY_BYTES, openBox, sealBox } from "./sealed-box.ts";
export {
  createFormTest,
  createHeadTest,
  createKnownSecrets,
  type FingerprintedForm,
  fingerprintSecret,
  HEAD_CHARS,
  type KnownSecrets,
  type SecretFingerprint,
} from "./secret-fingerprint.ts";
export { isSearchable, SECRET_MIN_CHARS, type SecretForm, secretForms } from "./secret-forms.ts";
export { createSerial, type Serial } from "./serial.ts";
export { SETTLED_TIME_FILE, settledTime } from "./settled-time.ts";
export { matchStars } from "./star-match.ts";
export {
  type ProtectedName,
  protectedNames,
  protectedPatterns,
  type Steering,
  steeringFile,
} from "./steering-files.ts";
export { createSystemClock, createSystemRandom } from "./system.ts";
export { errnoOf, messageOf } from "./thrown.ts";
export { createUlidFactory, type UlidFactory, ulidFromDigest } from "./ulid.ts";
export { visibleJson, visibleLine, visibleLines, visibleProse, visibleRow, visibleUnits } from "./visible-text.ts";
export { createWorkspaceFiles } from "./workspace-files.ts";
export { createWorkspaceRestore, type PresentEntry, type RestorePort } from "./workspace-restore.ts";
