/**
 * What git did to a workspace that no mount can prevent. Git records another version of a steering file although the sandbox kept the
 * old content in place, and exits with 0. Or it leaves a list of steps with commands that run when somebody continues a rebase. Compares
 * the repository before and after a command; changes nothing, and runs git only where the caller confines it.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { protectedNames, protectedPatterns } from "#base";
import { entriesOf, worktreeTarget } from "./repositories.ts";
import { straightText } from "./straight-folder.ts";

const MAX_TODO_BYTES = 256 * 1024;
const MAX_WORKTREES = 64;
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 120;
const TODO_FILES = ["rebase-merge/git-rebase-todo", "sequencer/todo"];
const TODO_COMMAND = /^[ \t]*(?:x|exec)[ \t]/;
/** One entry of `git diff --raw -z`: modes, the version that git recorded, the version on disk, what differs. */
const RAW_ENTRY = /^:\d+ \d+ ([0-9a-f]+) [0-9a-f]+ [A-Z]\d*$/;
const NAMES = [
  ...protectedNames().map(({ name }) => `:(literal)${name}`),
  ...protectedPatterns().map(({ glob }) => `:(glob)${glob}`),
];
const DIFF =
  "--no-pager diff --raw -z --no-abbrev --no-renames --no-ext-diff --no-textconv --ignore-submodules=all --".split(" ");
const NOT_COMPARED =
  "git could not say whether steering files, which the sandbox holds, still match what it recorded; check with: git status";

export interface CheckoutFindings {
  /** Lines for whoever reads the output of the command. */
  readonly lines: readonly string[];
  /** The work tree is not what git says it is; the command must not count as a success. */
  readonly isIncomplete: boolean;
}

export interface CheckoutWatch {
  /** Before a command. The function that it gives is called when the command has ended and what it left was swept. */
  begin(): Promise<() => Promise<CheckoutFindings>>;
}

/** `git` runs git in the workspace with these arguments and gives what it printed; undefined when it failed or took too long. */
export function watchCheckouts(
  root: string,
  git: (args: readonly string[]) => Promise<string | undefined>,
): CheckoutWatch {
  let known: { readonly index: string; readonly stale: ReadonlySet<string> | undefined } | undefined;

  /** Steering files whose content is not what git recorded, each with the recorded version. Asked again when the index changed. */
  async function staleFiles(folder: string): Promise<ReadonlySet<string> | undefined> {
    const index = stampOf(join(folder, "index"));
    if (known?.index !== index) {
      const said = index === "" ? "" : await git([...DIFF, ...NAMES]);
      known = { index, stale: said === undefined ? undefined : new Set(rawEntries(said)) };
    }
    return known.stale;
  }

  return {
    async begin() {
      const folder = gitFolder(root);
      const index = folder === undefined ? "" : stampOf(join(folder, "index"));
      const stale = folder === undefined ? new Set<string>() : await staleFiles(folder);
      const commands = folder === undefined ? new Set<string>() : todoCommands(folder);
      return async () => {
        const now = gitFolder(root);
        if (now === undefined) return { lines: [], isIncomplete: false };
        const added = [...todoCommands(now)].filter((line) => !commands.has(line));
        const todo = added.length === 0 ? [] : [todoText(added)];
        if (stampOf(join(now, "index")) === index) return { lines: todo, isIncomplete: false };
        const after = await staleFiles(now);
        if (after === undefined || stale === undefined) return { lines: [NOT_COMPARED, ...todo], isIncomplete: false };
        const left = [...after].filter((file) => !stale.has(file)).map(pathOf);
        return { lines: [...(left.length === 0 ? [] : [staleText(left)]), ...todo], isIncomplete: left.length > 0 };
      };
    },
  };
}

/** The folder with the index: `.git`, or what a linked worktree has instead. */
function gitFolder(root: string): string | undefined {
  const link = join(root, ".git");
  const info = lstatSync(link, { throwIfNoEntry: false });
  if (info?.isDirectory()) return link;
  return info?.isFile() ? worktreeTarget(link)?.own : undefined;
}

/** Changes whenever the file does; empty when there is none. */
function stampOf(path: string): string {
  const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return info === undefined ? "" : [info.ino, info.size, info.ctimeNs].join(" ");
}

/** `VERSION PATH` for each file. */
function rawEntries(said: string): string[] {
  const fields = said.split("\0");
  return fields.flatMap((field, at) => {
    const recorded = RAW_ENTRY.exec(field)?.[1];
    return recorded === undefined ? [] : [`${recorded} ${fields[at + 1]}`];
  });
}

function pathOf(entry: string): string {
  return entry.slice(entry.indexOf(" ") + 1);
}

/** The lines that run programs, of the repository and of its linked worktrees. */
function todoCommands(folder: string): Set<string> {
  const worktrees = entriesOf(join(folder, "worktrees")).slice(0, MAX_WORKTREES);
  const folders = [folder, ...worktrees.map(({ name }) => join(folder, "worktrees", name))];
  const files = folders.flatMap((one) => TODO_FILES.map((name) => join(one, name)));
  return new Set(files.flatMap((file) => commandsOf(file)));
}

function commandsOf(file: string): string[] {
  const info = lstatSync(file, { throwIfNoEntry: false });
  if (info === undefined) return [];
  const text = straightText(file, MAX_TODO_BYTES);
  // Whatever cannot be read as a short text may hold anything, and what a link leads to may be no business of a command.
  if (text === undefined) return [`${file} (${stampOf(file)}), which is not a short text file`];
  return text.split("\n").filter((line) => TODO_COMMAND.test(line));
}

function staleText(files: readonly string[]): string {
  const names = shown(files);
  return `git recorded another version of ${names}, but the sandbox holds steering files, so the old content is still there. Do not commit it. Go back to the commit before, or ask the user to run this outside the sandbox: git checkout -- ${names}`;
}

function todoText(lines: readonly string[]): string {
  return `the list of steps of a rebase or cherry-pick has commands that were not there before: ${shown(lines)}. Whoever continues it runs them; check with: git status`;
}

function shown(texts: readonly string[]): string {
  const more = texts.length > MAX_SHOWN ? ` and ${texts.length - MAX_SHOWN} more` : "";
  const first = texts.slice(0, MAX_SHOWN).map((text) => JSON.stringify(text.slice(0, MAX_SHOWN_CHARS)));
  return `${first.join(" ")}${more}`;
}
