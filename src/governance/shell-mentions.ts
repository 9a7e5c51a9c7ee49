/**
 * Finds the name of a program in the arguments of a command that might start it, such as `watch 'rm x'`. A sign to ask,
 * never proof: what a wrapper is known to start is in the tree of `shell.ts` already.
 */
import type { SimpleCommand } from "./shell.ts";
import { programName } from "./shell-wrappers.ts";

/**
 * The name of a program among `names` that a command names in its arguments, when it is a command that might run them.
 * Programs known not to run their arguments are passed over.
 */
export function mentionedProgram(command: SimpleCommand, names: Iterable<string>): string | undefined {
  const followed = command.starts.length > 0 && command.unseen === undefined;
  if (followed || takesData(command.words)) return undefined;
  const texts = [...command.words.slice(1), ...command.assignments];
  return [...names].find((wanted) => texts.some((text) => mentionsProgram(text, wanted)));
}

/** True when `name` stands in `text` as a word of its own, with or without a folder in front, in any case. */
export function mentionsProgram(text: string, name: string): boolean {
  return text
    .toLowerCase()
    .split(/[^\w.+-]+/)
    .includes(name.toLowerCase());
}

const DATA_PROGRAMS = new Set(
  (
    "ls pwd cat head tail wc grep egrep fgrep rg echo printf true false which sort uniq cut tr basename dirname date diff " +
    "stat file du nl mkdir rmdir touch cp mv rm ln chmod chown cd test [ tee jq tree realpath readlink"
  ).split(" "),
);
const DATA_GIT = new Set(
  (
    "add blame branch checkout commit diff fetch init log ls-files merge pull push reset restore rev-parse rm show stash " +
    "status switch tag mv"
  ).split(" "),
);

/** True for programs that treat their arguments as data and never start one of them. */
function takesData(words: readonly string[]): boolean {
  const name = programName(words);
  if (name === "git") return DATA_GIT.has(words[1] ?? "");
  return DATA_PROGRAMS.has(name) && !words.some((word) => /^--(?:pre|compress|hostname)/.test(word));
}
