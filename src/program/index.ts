/** What all sessions of a program share, and how the program is put together. */
export { assembleHarness, type Harness, type HarnessOptions, type Health } from "./assemble.ts";
export type { BuildInfo } from "./build-info.ts";
