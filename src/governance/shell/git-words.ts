/** Which table a git command is judged by, and what the values of its options and its operands may be. */
import { wordSet } from "#base";
import { isHarmlessCommitFormat, isHarmlessRefFormat, isHarmlessRefSort } from "./git-formats.ts";
import type { GivenOption } from "./options.ts";
import { textProblem, type Workspace } from "./paths.ts";
import type { ProgramTable } from "./tables.ts";
import { QUIET_GIT, QUIET_GIT_VERBS } from "./tables-git.ts";

export interface GitTable {
  readonly table: ProgramTable;
  /** Index of the first word that the table is about. */
  readonly from: number;
}

/** Undefined when the subcommand is not one that reads. */
export function gitTable(words: readonly string[]): GitTable | undefined {
  const [, subcommand = "", verb = ""] = words;
  const verbs = Object.hasOwn(QUIET_GIT_VERBS, subcommand) ? QUIET_GIT_VERBS[subcommand] : undefined;
  const table = Object.hasOwn(QUIET_GIT, subcommand) ? QUIET_GIT[subcommand] : verbs?.[""];
  const named = verb !== "" && verbs !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (named !== undefined) return { table: named, from: 3 };
  return table === undefined ? undefined : { table, from: 2 };
}

/** Why an option does more than its name says, or undefined. */
export function gitValueProblem(
  { name, value = "" }: GivenOption,
  { formats }: ProgramTable,
  workspace: Workspace,
): string | undefined {
  if (name === "-L" && value.includes(":")) return textProblem(value.slice(value.lastIndexOf(":") + 1), workspace);
  const shows = name === "--format" || name === "--pretty";
  if ((!shows && name !== "--sort") || formats === undefined) return undefined;
  const isKnown = formats === "commits" ? isHarmlessCommitFormat : shows ? isHarmlessRefFormat : isHarmlessRefSort;
  return isKnown(value) ? undefined : `git ${name} ${value} may make git start a program`;
}

/** A name of a commit, a branch or a stash, without anything that a shell or git would take apart. */
export function isPlainReference(word: string): boolean {
  return /^[\w@][\w./@{}~^-]*$/.test(word);
}

/** Keys whose values hold no tokens. */
const SETTINGS = wordSet("user.name user.email init.defaultbranch pull.rebase core.autocrlf core.ignorecase");

/** True for a key of git's configuration that anybody may see. */
export function isPlainSetting(word: string): boolean {
  return SETTINGS.has(word.toLowerCase());
}
