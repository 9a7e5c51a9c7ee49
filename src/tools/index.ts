/** The built-in tools, one file each, and the memo for their read-only results. */
export { createBuiltinTools } from "./builtin-tools.ts";
export { createMemoization } from "./memoization.ts";
