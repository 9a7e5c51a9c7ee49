/** Work handed to other agents: limits, lifecycle, verification, tasks. Opens no session itself: whoever puts the program together does. */
export type { Bundles } from "./compose.ts";
export type { Delegate, DelegateSpec } from "./delegate.ts";
export { createDelegationTools } from "./delegation-tools.ts";
export { createDelegations, type Delegations } from "./delegations.ts";
export { endInterrupted } from "./interrupted.ts";
export { createToolRetries } from "./tool-retries.ts";
export { createDelegationTree, type DelegationTree } from "./tree.ts";
export { createHeldWorktrees, type OpenWorktree, type Worktree, type WorktreeChange } from "./worktree.ts";
