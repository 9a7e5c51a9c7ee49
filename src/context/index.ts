/** Request middleware, one file each: what the model is told besides the user's words. */

export {
  type CompactionSettings,
  createCompactor,
  type SessionCompactor,
} from "./compaction/index.ts";
export { createHistory, lastTurns } from "./history.ts";
export { basePrompt, createIdentity } from "./identity.ts";
export {
  type BasePrompt,
  type ConditionResult,
  NOTICE_BLOCK,
  type PromptBlock,
  promptBlocks,
  withJoined,
} from "./prompt-blocks.ts";
export { createUntrusted } from "./untrusted.ts";
