/**
 * What is known about a built-in tool besides how to call it. Rules, labels, confinement, undo and the checks of files ask the tool
 * for it; nobody keeps a list of names. A tool of anybody else cannot declare it: what it says of itself would not be believed.
 */
import type { Tool } from "#engine";

/**
 * What a call does. `read` and `search` show what is in files, `list` only what they are called, `change` changes them. A `command`
 * has the arguments `command` and `cwd`, a `fetch` has `url`. A `skill` shows text that the user allowed, a `reread`
 * what the session has seen. `recall` reads memories, `memory`
 * changes one. `delegation` hands work to another agent, `task` follows it. A `todo` keeps the agent's own list, a `job` follows or ends a
 * command that was allowed before.
 */
export type ToolKind =
  | "read"
  | "search"
  | "list"
  | "change"
  | "command"
  | "fetch"
  | "question"
  | "skill"
  | "recall"
  | "reread"
  | "memory"
  | "delegation"
  | "task"
  | "todo"
  | "job"
  | "other";

/** An argument that names files of the workspace. */
export interface PathArgument {
  readonly name: string;
  /** `target`: what the path leads to; `entry`: the entry itself, also a link; `glob`: names below the folder of the call. */
  readonly means: "target" | "entry" | "glob";
  /** The result, an error or a later call can show what was there. */
  readonly reveals: boolean;
}

export interface ToolFacts extends Pick<Tool, "name" | "label" | "class" | "relays" | "fresh" | "subject"> {
  readonly kind: ToolKind;
  /** All of them, in the order of the tool's parameters. Absent: the tool names no files. Empty: it touches none of the workspace. */
  readonly paths?: readonly PathArgument[];
}

export type BuiltinTool = Tool & ToolFacts;
