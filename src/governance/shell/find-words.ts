/** Whether a `find` only looks: its options, paths and expression against a list of tests and actions that print. */
import type { SimpleCommand } from "./command.ts";
import { pathProblem, textProblem, type Workspace } from "./paths.ts";

/** The words of an expression that only look, by how many values each takes. */
const QUIET_FIND: ReadonlyMap<string, 0 | 1> = new Map([
  ...(
    "-print -print0 -ls -empty -prune -quit -daystart -depth -mount -xdev -true -false -nouser -nogroup -readable " +
    "-writable -executable -not -o -or -a -and ! ( ) ,"
  )
    .split(" ")
    .map((word) => [word, 0] as const),
  ...(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime " +
    "-mmin -amin -cmin -newer -anewer -cnewer -used -fstype -samefile -maxdepth -mindepth -perm -user -group -uid -gid " +
    "-links -inum -lname -ilname -printf -newermt"
  )
    .split(" ")
    .map((word) => [word, 1] as const),
]);

/** Their value is a file that is looked at. */
const TAKES_FILE = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

/** Index of the first word that belongs to the expression and not to the paths. */
export function expressionStart(words: readonly string[]): number {
  let at = 1;
  while (words[at] === "-P" || words[at] === "-H") at++;
  while (at < words.length && !/^[-(!,]/.test(words[at] ?? "")) at++;
  return at;
}

/** Why it does more than look, or undefined. What its `-exec` starts is judged as a command of its own. */
export function findProblem(command: SimpleCommand, workspace: Workspace): string | undefined {
  const { words, unknown } = command;
  if (unknown.length > 0) return `${words[unknown[0] ?? 0] ?? ""} is only known at run time`;
  const globbed = new Set(command.globbed);
  let at = expressionStart(words);
  for (let path = 1; path < at; path++) {
    if (globbed.has(path) && words[path]?.startsWith("[") === true)
      return `${words[path] ?? ""} may turn into an option of find`;
    const problem = /^-[PH]$/.test(words[path] ?? "") ? undefined : pathProblem(command, path, workspace, true);
    if (problem !== undefined) return problem;
  }
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-exec" && command.starts.length > 0) {
      const end = launchEnd(words, at);
      if (end === undefined) return "find -exec has no end";
      at = end;
      continue;
    }
    const values = QUIET_FIND.get(word);
    if (values === undefined || globbed.has(at)) return `find ${word} is not in the list of quiet tests`;
    at += values;
    if (values > 0 && globbed.has(at))
      return `the shell replaces ${words[at] ?? ""} with file names before find sees it; quote it`;
    const problem = TAKES_FILE.has(word) ? textProblem(words[at] ?? "", workspace) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function launchEnd(words: readonly string[], start: number): number | undefined {
  for (let at = start + 1; at < words.length; at++) {
    if (words[at] === ";" || (words[at] === "+" && words[at - 1] === "{}")) return at;
  }
  return undefined;
}
