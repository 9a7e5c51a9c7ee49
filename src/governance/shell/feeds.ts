/**
 * Which file names a command prints, when it is one that lists files of the workspace: the names that `xargs`, `$(…)` or
 * a `while read` loop behind it will work on. Only the shape of the list is told; the disk is looked at elsewhere.
 */
import { wordSet } from "#base";
import { hasGlob } from "../wildcard.ts";
import { programName } from "./wrappers.ts";

/** A set of files that is known by where it lies. */
export interface Feed {
  /** Folders, as written, below which all names lie. */
  readonly roots: readonly string[];
  /** A glob that the last part of each name matches; absent for every name. */
  readonly names?: string;
  /** Hidden files are among them. */
  readonly hidden: boolean;
  /** Links are among them, and reading one follows it. */
  readonly links: boolean;
  /** Each name begins with its root, so none can be taken for an option. */
  readonly prefixed: boolean;
  /** They come from git: `index` when only files that it tracks now are among them. */
  readonly git?: "index" | "history";
  /** The names are taken apart at blanks before they are used. */
  readonly split: boolean;
}

interface Lister {
  readonly words: readonly string[];
  readonly globbed: readonly number[];
  readonly dynamic: readonly number[];
  readonly redirects: readonly unknown[];
  readonly hereDocument: boolean;
}

/** What `command` prints, given what it reads from the pipe before it. */
export function feedOf(command: Lister, input: Feed | undefined): Feed | undefined {
  if (command.dynamic.length > 0 || command.redirects.length > 0 || command.hereDocument) return undefined;
  const name = programName(command.words);
  if (input !== undefined && passesNamesOn(name, command.words)) return input;
  if (name === "find") return findFeed(command);
  if (name === "rg") return rgFeed(command.words);
  if (name === "grep") return grepFeed(command);
  if (name === "git") return gitFeed(command.words);
  return undefined;
}

/** True for commands whose answer is numbers, dates, hashes or branch names: no blanks inside and no wildcards. */
export function printsPlainly(words: readonly string[]): boolean {
  const name = programName(words);
  // Some of these print their own words.
  if (words.slice(1).some((word) => /[*?[\\\s]/.test(word))) return false;
  if (name === "git") return words[1] === "rev-parse" || (words[1] === "branch" && words[2] === "--show-current");
  return PLAIN_PRINTERS.has(name);
}

const PLAIN_PRINTERS = wordSet("wc seq nproc date whoami id uname arch");

/** Filters that print lines of their input unchanged, and nothing else. */
function passesNamesOn(name: string, words: readonly string[]): boolean {
  const rest = words.slice(1);
  switch (name) {
    case "sort":
    case "uniq":
      return rest.every((word) => /^-[urnVfdiz]+$/.test(word) && !(name === "uniq" && /[cD]/.test(word)));
    case "head":
    case "tail":
      return /^(?:-(?:n ?)?\+?\d+)?$/.test(rest.join(" "));
    case "grep":
    case "egrep":
    case "fgrep":
      return rest.filter((word) => !/^-[vEFiwxP]+$/.test(word)).length === 1 && rest.length <= 3;
    case "cat":
      return rest.length === 0;
    default:
      return false;
  }
}

function findFeed({ words, globbed }: Lister): Feed | undefined {
  const start = words.findIndex((word, index) => index > 0 && /^[-(!,]/.test(word));
  const roots = words.slice(1, start < 0 ? words.length : start);
  const tests = withoutNarrowing(start < 0 ? [] : words.slice(start));
  if (globbed.length > 0 || tests.some((word) => /^-(?:printf|ls|exec|ok|quit|fprint|delete|follow)/.test(word)))
    return undefined;
  const plain = !tests.some((word) => /^(?:-o|-or|!|-not|\(|\)|,)$/.test(word));
  const named = tests.flatMap((word, index) => (word === "-name" ? [tests[index + 1] ?? ""] : []));
  const files = plain && tests.some((word, index) => word === "-type" && tests[index + 1] === "f");
  const shape = { hidden: true, links: !files, prefixed: true, split: true };
  const at = roots.length === 0 ? ["."] : roots;
  return plain && named.length === 1 ? { roots: at, names: named[0] ?? "*", ...shape } : { roots: at, ...shape };
}

/** The tests without what can only take names away: `-not -path X`, and a leading `-path X -prune -o`. */
function withoutNarrowing(tests: readonly string[]): readonly string[] {
  let rest = tests;
  while (/^-(?:path|name)$/.test(rest[0] ?? "") && rest[2] === "-prune" && rest[3] === "-o") rest = rest.slice(4);
  // Without an action of its own, what was pruned would be printed too.
  if (rest !== tests && !rest.some((word) => /^-print0?$/.test(word))) return tests;
  const kept: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const narrows = /^(?:!|-not)$/.test(rest[at] ?? "") && /^-(?:i?path|i?name|type|empty)$/.test(rest[at + 1] ?? "");
    if (narrows) at += rest[at + 1] === "-empty" ? 1 : 2;
    else kept.push(rest[at] ?? "");
  }
  return kept;
}

/** `rg -l PATTERN [PATH…]` and `rg --files [PATH…]`, in the plainest spellings only. */
function rgFeed(words: readonly string[]): Feed | undefined {
  const flags = words.slice(1).filter((word) => word.startsWith("-"));
  const operands = words.slice(1).filter((word) => !word.startsWith("-"));
  if (!flags.every((word) => /^(?:-[liwsF]+|--files|--files-with-matches|--ignore-case|--type=\w+)$/.test(word))) {
    return undefined;
  }
  const listed = flags.includes("--files");
  if (!listed && !flags.some((word) => /^-\w*l|^--files-with-matches$/.test(word))) return undefined;
  const paths = listed ? operands : operands.slice(1);
  return {
    roots: paths.length === 0 ? ["."] : paths,
    hidden: false,
    links: false,
    prefixed: paths.length > 0,
    split: true,
  };
}

/** `grep -rl PATTERN PATH…`: links are not followed, hidden files are searched. */
function grepFeed({ words, globbed }: Lister): Feed | undefined {
  const flags = words.slice(1).filter((word) => word.startsWith("-"));
  const [, ...paths] = words.slice(1).filter((word) => !word.startsWith("-"));
  if (globbed.length > 0 || paths.length === 0 || !flags.every((word) => /^-[rliwsFE]+$/.test(word))) return undefined;
  const lists = ["r", "l"].every((letter) => flags.some((word) => word.includes(letter)));
  return lists ? { roots: paths, hidden: true, links: false, prefixed: true, split: true } : undefined;
}

/** `git ls-files [PATH…]` and `git diff --name-only …`: names from the root, which may be any that the index knows. */
function gitFeed(words: readonly string[]): Feed | undefined {
  const rest = words.slice(2);
  const known = { hidden: true, links: true, prefixed: false, split: true };
  if (words[1] === "ls-files") {
    if (
      rest.some(
        (word) =>
          word.startsWith("-") && !/^(?:-m|-o|-c|--|--others|--modified|--cached|--exclude-standard)$/.test(word),
      )
    ) {
      return undefined;
    }
    const paths = rest.filter((word) => !word.startsWith("-"));
    const tracked = !rest.some((word) => /^-(?:o|-others)$/.test(word));
    const shape = { ...known, git: tracked ? ("index" as const) : ("history" as const) };
    const [only] = paths;
    const suffix = paths.length === 1 && only !== undefined ? /^(?:\*\*\/)?(\*\.[\w.]+)$/.exec(only)?.[1] : undefined;
    if (suffix !== undefined) return { roots: ["."], names: suffix, ...shape };
    if (paths.some((path) => hasGlob(path) || path.startsWith(":"))) return { roots: ["."], ...shape };
    return { roots: paths.length === 0 ? ["."] : paths, ...shape };
  }
  return words[1] === "diff" && rest.includes("--name-only") ? { roots: ["."], ...known, git: "history" } : undefined;
}
