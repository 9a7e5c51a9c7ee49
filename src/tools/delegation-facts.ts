/** The facts of the tools that hand work to other agents. What they do is in `delegation/`; without a project there are none. */
import type { ToolFacts } from "./facts.ts";

const common = { relays: true, fresh: true } as const;
const subject = ({ agent, task }: Readonly<Record<string, unknown>>): string => String(agent ?? task ?? "");

export const delegationFacts = {
  delegate: { ...common, name: "delegate", label: "Delegate", class: "mutating", kind: "delegation", subject },
  delegateAsync: {
    ...common,
    name: "delegate_async",
    label: "DelegateAsync",
    class: "mutating",
    kind: "delegation",
    subject,
  },
  poll: { ...common, name: "task.poll", label: "TaskPoll", class: "read_only", kind: "task" },
  await: { ...common, name: "task.await", label: "TaskAwait", class: "read_only", kind: "task" },
  takeWorktree: { ...common, name: "worktree.take", label: "WorktreeTake", class: "sensitive", kind: "task" },
  dropWorktree: { ...common, name: "worktree.drop", label: "WorktreeDrop", class: "sensitive", kind: "task" },
  cancel: { ...common, name: "task.cancel", label: "TaskCancel", class: "sensitive", kind: "task" },
} satisfies Record<string, ToolFacts>;
