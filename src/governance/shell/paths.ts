/** Why a path of a command is not quiet: outside the workspace, or something that nobody reads in passing. Looks at no disk. */
import { isSensitiveGlob, isSensitivePath, workspaceRelative } from "../sensitive-paths.ts";
import { globsMeet, hasGlob } from "../wildcard.ts";
import type { SimpleCommand } from "./command.ts";

/** A longer word is not a path that any system opens. */
const MAX_PATH_CHARS = 4096;
/** A longer pattern is not held against the sensitive paths. */
const MAX_PATTERN_CHARS = 256;

export interface Workspace {
  /** Absolute. */
  readonly root: string;
  /** Where the command runs, relative to the root; "." by default. */
  readonly folder?: string;
}

export function walkProblem(
  command: SimpleCommand,
  index: number,
  workspace: Workspace,
  hidden: boolean,
): string | undefined {
  const relative = workspaceRelative(workspace.root, command.words[index] ?? "", workspace.folder);
  if (hidden && command.globbed.includes(index)) return `${command.words[index] ?? ""} may match a folder with secrets`;
  if (relative?.split("/").includes(".git") === true) return "it reads git's own files";
  return relative?.endsWith(".config") === true ? "it reads the configuration of other programs" : undefined;
}

export function revisionProblem(command: SimpleCommand, index: number, workspace: Workspace): string | undefined {
  const word = command.words[index] ?? "";
  if (word.startsWith(":")) return `Harness does not understand the pathspec ${word}`;
  const colon = word.indexOf(":");
  const inTree = colon < 0 ? undefined : textProblem(word.slice(colon + 1), workspace);
  return inTree ?? pathProblem(command, index, workspace);
}

export function textProblem(path: string, workspace: Workspace): string | undefined {
  return pathProblem({ words: [path], globbed: hasGlob(path) ? [0] : [] }, 0, workspace);
}

export function pathProblem(
  command: Pick<SimpleCommand, "words" | "globbed">,
  index: number,
  workspace: Workspace,
  namesOnly = false,
): string | undefined {
  const word = command.words[index] ?? "";
  if (word === "-" || word === "/dev/null" || word === "/dev/stdin") return undefined;
  const globbed = command.globbed.includes(index);
  if (word.length > (globbed ? MAX_PATTERN_CHARS : MAX_PATH_CHARS)) return "a word is longer than a path";
  const relative = workspaceRelative(workspace.root, word, workspace.folder);
  if (relative === undefined) return `${word} is outside the workspace`;
  if (
    globbed &&
    word.split("/").some((segment) => segment.startsWith(".") && hasGlob(segment) && globsMeet(segment, ".."))
  ) {
    return `${word} may be outside the workspace`;
  }
  // What a plain wildcard in the last part of a name comes to is seen on the disk.
  const last = relative.slice(relative.lastIndexOf("/") + 1);
  const lookedUp = namesOnly || (/^[*?\w]/.test(last) && !hasGlob(relative.slice(0, -last.length)));
  const found = globbed && !lookedUp ? isSensitiveGlob(relative, "shell") : isSensitivePath(relative);
  return found.sensitive ? `${word} is sensitive: ${found.why}` : undefined;
}

export function firstProblem(
  indexes: readonly number[],
  judge: (index: number) => string | undefined,
): string | undefined {
  for (const index of indexes) {
    const problem = judge(index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
