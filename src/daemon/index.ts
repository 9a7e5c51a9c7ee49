/** The engine as a service of one user: who is the daemon, who may use it, how it is found, started and ended. What serves it is in `serving.ts`. */
export type { DaemonFacts } from "./claim.ts";
export { endDaemon } from "./end.ts";
export { type DaemonAccess, daemonFor, ensureDaemon } from "./ensure.ts";
export { type DaemonFlags, daemonPlace, reachDaemon } from "./place.ts";
export { askDaemon, askLocally, type LocalAnswer } from "./probe.ts";
export { createDaemonRevival, type DaemonRevival } from "./revival.ts";
export { type DaemonState, daemonFacts, daemonPlaces, describeState, lookForDaemon } from "./state.ts";
