/** The built-in tools, one file each, what is known about them, and the memo for their read-only results. */
export { type BackgroundJobs, createBackgroundJobs, type Job } from "./background-jobs.ts";
export {
  builtinToolNames,
  createBuiltinTools,
  delegationToolNames,
  factsOf,
  isReservedToolName,
  toolFacts,
} from "./builtin-tools.ts";
export { delegationFacts } from "./delegation-facts.ts";
export type { PathArgument, ToolFacts, ToolKind } from "./facts.ts";
export { binaryKind, decodeText, imageType } from "./file-kind.ts";
export { createJobTools, jobLines } from "./job-tools.ts";
export { createMemoization } from "./memoization.ts";
export { forgetMemory, searchMemories, writeMemory } from "./memory.ts";
export { createPlanTool } from "./plan.ts";
export { removeTool } from "./remove.ts";
export { createRereadTool } from "./reread.ts";
export { createSkillTool } from "./skill.ts";
export { createTodosTool } from "./todos.ts";
export { listWorkspacePaths } from "./workspace-paths.ts";
export { writeTool } from "./write.ts";
