/** The ports to the world and what else touches it: files, processes, connections, the clock. */
export { checkedAddresses, pinnedLookup, type Resolve, type ResolvedAddress } from "./checked-addresses.ts";
export { childEnvironment } from "./child-environment.ts";
export { hasNoRoom } from "./disk-room.ts";
export { type FileLock, lockContenders, retryWaitMs, tryFileLock, withFileLock } from "./file-lock.ts";
export { createHiddenFiles } from "./hidden-files.ts";
export { homeFolders } from "./home-folders.ts";
export {
  type KeychainCommand,
  type KeychainItem,
  keychainProgram,
  keychainSession,
  lookedUp,
} from "./keychain-program.ts";
export { createOwner, isAlive, LEASE_MS } from "./lease.ts";
export { makeFolder } from "./make-folder.ts";
export { createModelConnections, proxyVariables } from "./model-connections.ts";
export {
  createPrivateFile,
  makePrivateDirectory,
  movePrivateFile,
  readOwnedFile,
  readPrivateFile,
  removeDrafts,
  removePrivateFile,
  rewritePrivateFile,
  syncFolder,
  writePrivateFile,
} from "./private-file.ts";
export { GATE_SCRIPT } from "./process-gate.ts";
export { isSameProcess, isStopped, processPlace, startMark } from "./process-mark.ts";
export {
  createProcesses,
  type DetachedProcess,
  type OwnProcess,
  runAndWait,
  runOnTerminal,
  startDetached,
  startOwnProcess,
  startPiped,
  startReaped,
} from "./processes.ts";
export { createProgramFacts, type FoundProgram, fileSha256, findProgram } from "./program-facts.ts";
export { createPublicWeb, listedHost } from "./public-web.ts";
export { isInside, realPath, realPathIfThere } from "./real-path.ts";
export { refusedWorkspace } from "./refused-workspace.ts";
export { isPrivateByName, type RemoteRequest, sendThroughSocket, sendToAddress } from "./remote-request.ts";
export { createScratchFolders, type ScratchFolders } from "./scratch-folder.ts";
export { SETTLED_TIME_FILE, settledTime } from "./settled-time.ts";
export { atStraightEntry, STRAIGHT_READ_FLAGS } from "./straight-entry.ts";
export { createSystemClock, createSystemRandom } from "./system.ts";
export { createWorkspaceFiles } from "./workspace-files.ts";
export { createWorkspaceRestore, type PresentEntry, type RestorePort } from "./workspace-restore.ts";
