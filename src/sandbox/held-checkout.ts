/**
 * What git did to a workspace that no mount can prevent. Git records another version of a steering file although the sandbox kept the
 * old content in place, and exits with 0. Or it leaves a list of steps with commands that run when somebody continues a rebase. Compares
 * the repository before and after a command; changes nothing, and runs git only where the caller confines it.
 */
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { protectedNames, protectedPatterns } from "#base";
import { entriesOf, isInside, MAX_LINK_BYTES, submodulesOf, worktreeTarget } from "./repositories.ts";
import { entryAt, straightText } from "./straight-folder.ts";

const MAX_TODO_BYTES = 256 * 1024;
/** In each repository. Each costs two looks before and after a command. */
const MAX_WORKTREES = 512;
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
  "git could not tell whether the steering files, which the sandbox keeps unchanged, still match the repository; check with: git status";

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

/**
 * `repositories` gives the folders that are repositories now, those that commands began included. `git` runs git in the workspace with
 * these arguments and gives what it printed; undefined when it failed or took too long.
 */
export function watchCheckouts(
  root: string,
  repositories: () => readonly string[],
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
      const steps = stepsToRun(root, repositories());
      return async () => {
        const todo = stepLines(steps, stepsToRun(root, repositories()));
        const now = gitFolder(root);
        if (now === undefined) return { lines: todo, isIncomplete: false };
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
  const info = entryAt(link);
  if (info?.isDirectory()) return link;
  return info?.isFile() ? worktreeTarget(link)?.own : undefined;
}

/** Changes whenever the file does; empty when there is none. */
function stampOf(path: string): string {
  if (entryAt(path) === undefined) return "";
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

interface Steps {
  /** Lines that run programs, each by its file and its text. */
  readonly commands: ReadonlyMap<string, string>;
  /** Files that cannot be read, each by its path and how it is now. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Git folders with more worktrees than were looked at. */
  readonly partial: ReadonlySet<string>;
}

/** What runs when somebody continues a rebase: in each repository, its submodules and its linked worktrees. */
function stepsToRun(root: string, repositories: readonly string[]): Steps {
  const commands = new Map<string, string>();
  const unreadable = new Map<string, string>();
  const partial = new Set<string>();
  const folders = repositories.flatMap((folder) => [...namedFolder(root, folder), ...submodulesOf(folder)]);
  for (const folder of new Set(folders)) {
    const worktrees = entriesOf(join(folder, "worktrees")).filter((entry) => entry.isDirectory());
    if (worktrees.length > MAX_WORKTREES) partial.add(folder);
    const inner = worktrees.slice(0, MAX_WORKTREES).map(({ name }) => join(folder, "worktrees", name));
    for (const file of [folder, ...inner].flatMap((one) => TODO_FILES.map((name) => join(one, name)))) {
      if (entryAt(file) === undefined) continue;
      const text = straightText(file, MAX_TODO_BYTES);
      // It may hold anything, and what a link leads to may be no business of a command.
      if (text === undefined) unreadable.set(`${file} ${stampOf(file)}`, file);
      for (const line of text?.split("\n") ?? []) if (TODO_COMMAND.test(line)) commands.set(`${file} ${line}`, line);
    }
  }
  return { commands, unreadable, partial };
}

/** As git finds it. A folder outside counts only when it names the workspace too: a command must not choose what is read to it. */
function namedFolder(root: string, folder: string): string[] {
  const found = gitFolder(folder);
  if (found !== undefined) return [found];
  const named = /^gitdir: (.+?)\r?\n?$/.exec(straightText(join(folder, ".git"), MAX_LINK_BYTES) ?? "")?.[1];
  const path = named === undefined ? root : resolve(folder, named);
  return path !== root && isInside(root, path) ? [path] : [];
}

function stepLines(before: Steps, now: Steps): string[] {
  const commands = [...now.commands].filter(([key]) => !before.commands.has(key)).map(([, line]) => line);
  const unreadable = [...now.unreadable].filter(([key]) => !before.unreadable.has(key)).map(([, file]) => file);
  const partial = [...now.partial].filter((folder) => !before.partial.has(folder));
  return [
    ...(commands.length === 0 ? [] : [todoText([...new Set(commands)])]),
    ...(unreadable.length === 0 ? [] : [unreadableText(unreadable)]),
    ...partial.map((folder) => partialText(folder)),
  ];
}

function staleText(files: readonly string[]): string {
  const names = shown(files);
  return `git checked out another version of ${names}, but the sandbox does not let commands change steering files, so the old content is still there. Do not commit it. Go back to the previous commit, or ask the user to run this outside the sandbox: git checkout -- ${names}`;
}

function todoText(lines: readonly string[]): string {
  return `the list of steps of a rebase or cherry-pick contains new commands: ${shown(lines)}. Continuing it runs them; check with: git status`;
}

function unreadableText(files: readonly string[]): string {
  return `${shown(files)} should list the steps of a rebase or cherry-pick, but is a link, very long or not a regular file, so Harness did not check it for commands. Continuing it runs them; check with: git status`;
}

function partialText(folder: string): string {
  return `${folder} has more than ${MAX_WORKTREES} linked worktrees; Harness checked only that many of them for commands that a rebase would run`;
}

function shown(texts: readonly string[]): string {
  const more = texts.length > MAX_SHOWN ? ` and ${texts.length - MAX_SHOWN} more` : "";
  const first = texts.slice(0, MAX_SHOWN).map((text) => JSON.stringify(text.slice(0, MAX_SHOWN_CHARS)));
  return `${first.join(" ")}${more}`;
}
