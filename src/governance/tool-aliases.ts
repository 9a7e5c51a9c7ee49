/** The built-in tools by the labels that people know them by. */
import type { ToolAliases } from "./rules.ts";

/** The labels that rules may use instead of canonical names. Those of the built-in tools: a foreign tool cannot add one. */
export const TOOL_ALIASES: ToolAliases = {
  Read: "fs.read",
  Write: "fs.write",
  Edit: "fs.edit",
  Ls: "fs.list",
  Glob: "fs.glob",
  Grep: "fs.search",
  Move: "fs.move",
  Remove: "fs.remove",
  Bash: "exec",
  WebFetch: "web.fetch",
  AskUser: "ask_user",
  Delegate: "delegate",
  DelegateAsync: "delegate_async",
  TaskPoll: "task.poll",
  TaskAwait: "task.await",
  TaskCancel: "task.cancel",
};

export function isBuiltin(name: string): boolean {
  return Object.values(TOOL_ALIASES).includes(name);
}
