/** Shell hooks, loaded with the first session that has one: a session without pays nothing for them. */
export type { SessionFacts } from "./hook-input.ts";
export { createShellHooks } from "./shell-hooks.ts";
