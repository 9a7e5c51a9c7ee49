/** What all sessions of a program share, and how the program is put together. */
export { assembleHarness } from "./assemble.ts";
export type { BuildInfo } from "./build-info.ts";
export type { Harness, HarnessOptions, Health } from "./options.ts";
