/** Request middleware, one file each: what the model is told besides the user's words. */

export { createHistory } from "./history.ts";
export { createIdentity, DEFAULT_PROMPT } from "./identity.ts";
export { type ConditionResult, NOTICE_BLOCK, type PromptBlock, promptBlocks } from "./prompt-blocks.ts";
export { createUntrusted } from "./untrusted.ts";
