/** A simple command of a shell, as the judges see it: its words, what stands around it and what it starts. */
import type { Feed } from "./feeds.ts";

export interface RedirectedFile {
  readonly path: string;
  readonly writes: boolean;
}

export interface SimpleCommand {
  /** The words after quote removal, the program first. Empty for a bare assignment or redirect. */
  readonly words: readonly string[];
  /** Indexes of the words that the shell replaces by file names (`*`, `?`, `[…]`). */
  readonly globbed: readonly number[];
  /** Indexes of the words that will be spelled differently when it runs. */
  readonly dynamic: readonly number[];
  /** Of those: the ones of which nothing is known but how they were written. */
  readonly unknown: readonly number[];
  /** Of those: the ones that may become several words, or none. */
  readonly split: readonly number[];
  /** Words, by their index, that stand for the names a listing printed. */
  readonly feeds: ReadonlyMap<number, Feed>;
  /** `NAME=value` in front of the program. */
  readonly assignments: readonly string[];
  /** Files of its redirects, `/dev/null` and copies of descriptors left out. */
  readonly redirects: readonly RedirectedFile[];
  readonly hereDocument: boolean;
  /** The text of it, or of a here-string. */
  readonly hereText?: string;
  readonly background: boolean;
  /** More words come at run time, from standard input or a file list. */
  readonly open: boolean;
  /** The files that those words name, where that is known. */
  readonly openFeed?: Feed;
  /** Where it may run, as written, relative to where the whole command starts. */
  readonly folders: readonly string[];
  /** What it starts itself, when it is a wrapper such as `env`, `xargs`, `find -exec` or `sh -c`. */
  readonly starts: readonly SimpleCommand[];
  /** A wrapper that only passes on (`timeout`, `nice`, …): what it starts decides. */
  readonly transparent: boolean;
  /** Why more may run than can be read here, for example through `git -c`. */
  readonly unseen?: string;
  /** Why its words may mean something else by the time it runs, for example after `export PATH=…`. */
  readonly poisoned?: string;
}

/** All commands of the tree, wrappers before what they start. */
export function* everyCommand(commands: readonly SimpleCommand[]): Generator<SimpleCommand> {
  for (const command of commands) {
    yield command;
    yield* everyCommand(command.starts);
  }
}

/** True for variables that change the language or colour of the output and nothing else. */
export function isHarmlessAssignment(assignment: string): boolean {
  return /^(?:LC_[A-Z]+|LANG|NO_COLOR)=[\w.@-]*$/.test(assignment);
}

/** True for a variable of one's own: no program and no shell gives it a meaning, and it is not exported. */
export function isOwnVariable(name: string): boolean {
  return (
    /^(?:[a-z]|[a-z][a-z0-9_]*[a-z0-9]|FILES?|DIRS?|SRC|ROOT|NAME|BASE|COUNT|N|F|D|I)$/.test(name) &&
    !SHELL_NAMES.has(name)
  );
}

/** Names that some shell ties to its own state. */
const SHELL_NAMES = new Set(
  "path cdpath fpath manpath mailpath fignore prompt psvar histchars status argv watch module_path auto_resume".split(
    " ",
  ),
);
