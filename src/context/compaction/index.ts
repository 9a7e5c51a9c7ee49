/** Long conversations made shorter: when, what stays, and what takes the place of the rest. */
export { type CompactionSettings, createCompactor, type SessionCompactor } from "./compactor.ts";
