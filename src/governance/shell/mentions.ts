/**
 * Finds the name of a program in the arguments of a command that might start it, such as `watch 'rm x'`. A sign to ask,
 * never proof: what a wrapper is known to start is in the tree of `shell.ts` already.
 */
import { wordSet } from "#base";
import { globsMeet } from "../wildcard.ts";
import type { SimpleCommand } from "./command.ts";
import { programName } from "./wrappers.ts";

/**
 * The name of a program among `names` that a command names in its arguments, when it is a command that might run them.
 * Programs known not to run their arguments are passed over.
 */
export function mentionedProgram(command: SimpleCommand, names: Iterable<string>): string | undefined {
  const { startable, patterns } = namesIn(command);
  for (const wanted of names) {
    const name = wanted.toLowerCase();
    if (startable.has(name) || patterns.length > MAX_PATTERNS || patterns.some((pattern) => globsMeet(pattern, name)))
      return wanted;
  }
  return undefined;
}

/** A command with more of them may name any program. */
const MAX_PATTERNS = 20;

/** True when the arguments or the here-document of a command hold `word`, as a part of a word or as a name of its own. */
export function mentionsWord(command: SimpleCommand, word: string): boolean {
  return namesIn(command).spoken.has(word.toLowerCase()) || textsOf(command).some((text) => text.includes(word));
}

function textsOf({ words, hereText }: SimpleCommand): string[] {
  return [...words.slice(1), ...(hereText === undefined ? [] : [hereText])];
}

const COPIERS = new Set(["cp", "mv", "ln", "install"]);

interface Names {
  /** What the command may start. */
  readonly startable: ReadonlySet<string>;
  /** File name patterns that may stand for what it starts. */
  readonly patterns: readonly string[];
  /** What its arguments hold. */
  readonly spoken: ReadonlySet<string>;
}

/** Kept by command, which nobody changes: each rule asks about the same names. */
const namesOf = new WeakMap<SimpleCommand, Names>();

function namesIn(command: SimpleCommand): Names {
  const known = namesOf.get(command);
  if (known !== undefined) return known;
  const followed = command.starts.length > 0 && command.unseen === undefined;
  const words = command.words.slice(1);
  const texts = textsOf(command);
  // A variable such as PAGER names a program whatever the arguments are; and a copy of a program is one under another name.
  const copied = COPIERS.has(programName(command.words)) ? words.filter((word) => word.includes("/")) : [];
  const isSed = programName(command.words) === "sed";
  const mayRun = [...(followed || takesData(command) ? [] : texts), ...command.assignments];
  const startable = mayRun.flatMap(isSed ? namesInSed : namesInText);
  const made = {
    startable: new Set([...startable, ...copied.map((path) => programName([path]))]),
    patterns: mayRun.flatMap((text) => patternsInText(isSed ? text.replace(/^[^/]*e(?=[/~.*?[])/, "") : text)),
    spoken: new Set(texts.flatMap(namesInText)),
  };
  namesOf.set(command, made);
  return made;
}

/** Everything in a text that may be the name of a program, in lower case and without a folder. */
export function namesInText(text: string): string[] {
  return [...readingsOf(text).flatMap(splitNames), ...behindQuotes(text)].flatMap((name) =>
    /^-[^-]/.test(name) ? endingsOf(name, /[^-]/g) : [name],
  );
}

function splitNames(text: string): string[] {
  return text.toLowerCase().split(/[^\w.+-]+/);
}

/** What begins at a quote inside a word: awk puts `E"r\m x"` together, and `E` is empty. */
function behindQuotes(text: string): string[] {
  const marked = text
    .replace(/["']/g, QUOTE_MARK)
    .replace(ESCAPED, decoded)
    .replace(/\\\n|\\/g, "");
  return marked
    .toLowerCase()
    .split(MARKED_SEPARATOR)
    .filter((word) => word.includes(QUOTE_MARK))
    .flatMap((word) => endingsOf(word, BY_QUOTE).map((ending) => ending.replaceAll(QUOTE_MARK, "")));
}

/** A sign that no command holds. */
const QUOTE_MARK = "\u0001";
const MARKED_SEPARATOR = new RegExp(`[^\\w.+${QUOTE_MARK}-]+`);
const BY_QUOTE = new RegExp(QUOTE_MARK, "g");

/** As it is written, as a shell would read it without quotes and escapes, and as both are when variables in them are empty. */
function readingsOf(text: string): string[] {
  const read = unquoted(text);
  return [...new Set([text, read, withoutVariables(read), unquoted(withoutVariables(text))])];
}

function unquoted(text: string): string {
  return text.replace(ESCAPED, decoded).replace(/\\\n|["'\\]/g, "");
}

/** In a makefile any one sign behind `$` is the name of a variable. */
function withoutVariables(text: string): string {
  return text.replace(/\$(?:\{[^}]{0,64}\}|\([^)]{0,64}\)|.)/gs, "");
}

const ESCAPED = /\\x([0-9a-f]{1,2})|\\([0-7]{1,3})/gi;

function decoded(_: string, hex: string | undefined, octal: string | undefined): string {
  return String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? "0", 8) : Number.parseInt(hex, 16));
}

/** The last parts of paths out of the workspace that hold a wildcard, as in `/usr/bin/t?uch`. */
function patternsInText(text: string): string[] {
  const words = readingsOf(text).flatMap((reading) => reading.split(/[\s"'`();|&<>=,{}]+/));
  const paths = words.filter((word) => /^[/~.*?[]/.test(word) && word.includes("/"));
  return paths.map((path) => path.slice(path.lastIndexOf("/") + 1).toLowerCase()).filter((name) => /[*?[]/.test(name));
}

/** A word and what stands in it behind each match: the value behind an option letter, as in `-Otouch`. */
function endingsOf(word: string, behind: RegExp): string[] {
  return [word, ...[...word.slice(0, MAX_WORD_CHARS).matchAll(behind)].map(({ index }) => word.slice(index + 1))];
}

/** A longer word that has no blank is not a name behind a letter. */
const MAX_WORD_CHARS = 256;

/** The command `e` of sed starts what follows it, with nothing in between: `1etouch`. */
function namesInSed(text: string): string[] {
  return namesInText(text).flatMap((name) => endingsOf(name, /e/g));
}

const DATA_PROGRAMS = wordSet(
  "ls pwd cat head tail wc grep egrep fgrep rg echo printf true false which sort uniq cut tr basename dirname date diff " +
    "stat file du nl mkdir rmdir touch cp mv rm ln chmod chown cd test [ tee jq tree realpath readlink sleep seq md5sum " +
    "sha1sum sha256sum sha512sum cmp comm column rev tac fold paste join od xxd base64 strings read exit return export",
);
const DATA_GIT = wordSet(
  "add blame branch checkout commit diff fetch init log ls-files merge pull push reset restore rev-parse rm show stash " +
    "status switch tag mv describe shortlog rev-list cat-file ls-tree",
);
/** Of those, the ones that could be handed a program by an option that is not seen yet. */
const STEERABLE = new Set(["rg", "sort", "fetch", "pull", "push", "commit", "merge", "tag"]);

/** True for programs that treat their arguments as data and never start one of them. */
export function takesData({ words, unknown, open }: SimpleCommand): boolean {
  const name = programName(words);
  const unseen = open || unknown.length > 0;
  const subject = name === "git" ? (words[1] ?? "") : name;
  if (unseen && (STEERABLE.has(subject) || unknown.includes(0) || (name === "git" && unknown.includes(1))))
    return false;
  if (name === "git") return DATA_GIT.has(subject);
  return DATA_PROGRAMS.has(name) && !words.some((word) => /^--(?:pre|compress|hostname)/.test(word));
}
