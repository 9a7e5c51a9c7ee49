/**
 * What the pattern of a rule about commands means: words against words. An allow rule is read narrowly, so that its
 * wildcards reach no option and no path out of the workspace; a deny or ask rule is read widely and may match too much.
 */
import { programCaches, textBytes } from "#base";
import type { PatternMatch, Reading } from "./rule-patterns.ts";
import { isHarmlessAssignment, type SimpleCommand } from "./shell/command.ts";
import { programName } from "./shell/wrappers.ts";
import { globsMeet, hasGlob, matchRuns, matchSequence, matchWildcard } from "./wildcard.ts";

/** The words of an argv pattern: split at blanks, quotes keep a word together, `…:*` at the end means ` *`. */
export function argvPattern(pattern: string): readonly string[] {
  const known = argvPatterns.get(pattern);
  if (known !== undefined) return known;
  const words = wordsOf(pattern);
  argvPatterns.set(pattern, words, textBytes(...words));
  return words;
}

/** They come from rules, of which there are few. */
const argvPatterns = programCaches.open<readonly string[]>("argument patterns");

function wordsOf(pattern: string): readonly string[] {
  const words: string[] = [];
  for (const match of pattern.replace(/:\*$/, " *").matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)) {
    words.push(
      match[0].replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
    );
  }
  return words;
}

/**
 * Read narrowly, `*` as a word is any number of plain words, `-*` any number of options and `**` any number of any words;
 * nothing around the command may go beyond its words. Read widely, each of them is any number of words, the folder and the
 * case of the program do not matter, options may stand anywhere, and further words may follow.
 */
export function matchArgv(pattern: readonly string[], command: SimpleCommand, reading: Reading): PatternMatch {
  if (command.words.length === 0) return "no";
  return reading === "narrow" ? narrowArgv(pattern, command) : wideArgv(pattern, command);
}

/** How many steps `matchArgv` may take at most, up to a factor: the product of both lengths. */
export function matchCost(pattern: readonly string[], { words }: SimpleCommand): number {
  const [program = ""] = pattern;
  if (!hasGlob(program) && programName([program]) !== programName(words)) return 1;
  return lengthOf(pattern) * lengthOf(words);
}

function lengthOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length + 1, 0);
}

const isOption = (word: string): boolean => /^-./.test(word);
/** Leads out of the workspace, behind a prefix such as `of=` or `@` too. */
const LEADS_OUT = /^[/~]|[=@,][/~]|:(?:\/(?!\/)|\/{3}|~)|(?:^|[=:@,/])\.\.(?:\/|$)|^file:/i;
/** A file name pattern whose names begin with what is written, and so are no options and no parent folders. */
const SAFE_GLOB = /^(?:\.\/)?\w(?:[^/]|\/(?![.[*?]))*$/;

/** What the shell was kept from expanding by quotes; `make` and others do it themselves. */
const EXPANSION = /\$[({]|`/g;

function expansions(text: string): number {
  return text.match(EXPANSION)?.length ?? 0;
}

/** True for a word that `*` in an allow rule covers: no option, no path that leads out of the workspace, nothing to expand. */
export function isPlainWord(word: string, globbed: boolean): boolean {
  return !isOption(word) && !LEADS_OUT.test(word) && expansions(word) === 0 && (!globbed || SAFE_GLOB.test(word));
}

function narrowArgv(pattern: readonly string[], command: SimpleCommand): PatternMatch {
  const { words, globbed } = command;
  if (command.redirects.length > 0 || !command.assignments.every(isHarmlessAssignment)) return "no";
  if (command.poisoned !== undefined || command.dynamic.length > 0) return "no";
  // What a pattern allows is meant for the folder that the command starts in.
  if (command.folders.join() !== ".") return "no";
  if (command.unseen !== undefined && pattern.some(hasGlob)) return "no";
  // Words that come at run time may be options.
  if (command.open && pattern.at(-1) !== "**") return "no";
  const patterned = new Set(globbed);
  const isPlain = (word: string, index: number): boolean => isPlainWord(word, patterned.has(index));
  const runOf = (part: string): ((word: string, index: number) => boolean) | undefined => {
    if (part === "**") return () => true;
    if (part === "*") return isPlain;
    return part === "-*" ? (word) => isOption(word) : undefined;
  };
  const same = (part: string, word: string, index: number): boolean =>
    part === word || (hasGlob(part) && covers(part, word, patterned.has(index)));
  return matchRuns(pattern, words, runOf, same) ? "yes" : "no";
}

/** Inside a word `*` and `?` stay within a folder and `**` does not; how a word begins, leads out and is expanded has to be written. */
function covers(part: string, word: string, globbed: boolean): boolean {
  const isWritten = (shape: RegExp): boolean => !shape.test(word) || shape.test(part);
  if (!isWritten(/^-/) || !isWritten(/^[/~]/) || !isWritten(LEADS_OUT) || !isWritten(/(?:^|\/)\.\.(?:\/|$)/))
    return false;
  // Only as many as are written can be those that are written.
  if (expansions(word) > expansions(part) || (globbed && !SAFE_GLOB.test(word))) return false;
  const runOf = (token: string): ((char: string) => boolean) | undefined => {
    if (token === "**") return () => true;
    return token === "*" ? (char) => char !== "/" : undefined;
  };
  const tokens = part.match(/\*+|[^*]/gsu) ?? [];
  const merged = tokens.map((token) => (token.length > 2 && token.startsWith("*") ? "**" : token));
  return matchRuns(merged, [...word], runOf, (token, char) => token === char || (token === "?" && char !== "/"));
}

function wideArgv(given: readonly string[], command: SimpleCommand): PatternMatch {
  const pattern = given.map((part) => (part === "**" ? "*" : part));
  const prefix = pattern.at(-1) === "*" ? pattern : [...pattern, "*"];
  const words = [programName(command.words).replace(/\.exe$/, ""), ...command.words.slice(1)];
  const [program = "", ...rest] = prefix;
  const folded = [program.slice(program.lastIndexOf("/") + 1).toLowerCase(), ...rest];
  if (matchSequence(folded, words, "*", matchWildcard)) return "yes";
  const reordered = optionsAnywhere(folded, words);
  if (reordered !== "no") return reordered;
  const [firstDynamic] = command.dynamic;
  if (firstDynamic !== undefined && mayContinue(folded, words.slice(0, firstDynamic))) return "maybe";
  const patterned = new Set(command.globbed);
  const loose = (part: string, word: string, index: number): boolean =>
    matchWildcard(part, word) || (patterned.has(index) && globsMeet(word, part));
  if (command.globbed.length > 0 && matchSequence(folded, words, "*", loose)) return "maybe";
  return command.open && mayContinue(folded, words) ? "maybe" : "no";
}

/** Long names and the letters that many programs give them. */
const LETTERS: Readonly<Record<string, string>> = {
  "--force": "f",
  "--recursive": "rR",
  "--all": "aA",
  "--delete": "dD",
  "--no-verify": "n",
  "--output": "o",
  "--exec": "ex",
  "--user": "u",
  "--interactive": "i",
  "--in-place": "i",
};

/** A program takes its options in any order and its letters in any cluster: `-rf` is also `-f -r`, behind the operands too. */
function optionsAnywhere(pattern: readonly string[], words: readonly string[]): PatternMatch {
  const wanted = pattern.filter(isOption);
  if (wanted.length === 0) return "no";
  const rest = pattern.filter((word) => !isOption(word));
  const given = words.filter(isOption);
  if (
    !matchSequence(
      rest,
      words.filter((word) => !isOption(word)),
      "*",
      matchWildcard,
    )
  )
    return "no";
  const long = given.filter((word) => word.startsWith("--")).map((word) => word.split("=", 1)[0] ?? "");
  const letters = new Set(given.filter((word) => /^-[^-]/.test(word)).flatMap((word) => [...word.slice(1)]));
  const hasLong = (name: string): boolean => long.some((option) => option.length > 2 && name.startsWith(option));
  let match: PatternMatch = "yes";
  for (const option of wanted) {
    const [name = ""] = option.split("=", 1);
    if (words.includes(option)) continue;
    if (hasGlob(name)) {
      if (!given.some((word) => matchWildcard(name, word.split("=", 1)[0] ?? ""))) return "no";
    } else if (name.startsWith("--")) {
      if (hasLong(name)) continue;
      if (![...(LETTERS[name] ?? "")].some((letter) => letters.has(letter))) return "no";
      match = "maybe";
    } else {
      for (const letter of name.slice(1)) {
        if (letters.has(letter)) continue;
        if (!Object.entries(LETTERS).some(([spelled, short]) => short.includes(letter) && hasLong(spelled)))
          return "no";
        match = "maybe";
      }
    }
  }
  return match;
}

/** Whether words that come later could complete the pattern: what is there matches its beginning. */
function mayContinue(pattern: readonly string[], words: readonly string[]): boolean {
  if (words.length === 0) return true;
  return pattern.some((_, length) => matchSequence(pattern.slice(0, length), words, "*", matchWildcard));
}
