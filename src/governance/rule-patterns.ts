/**
 * What the pattern of a permission rule means for each kind of call: paths, URLs, command words, other text. An allow
 * rule is read narrowly and a deny or ask rule widely, so that a doubt is never an allow.
 */
import picomatch from "picomatch";
import { workspaceRelative } from "./sensitive-paths.ts";
import { isHarmlessAssignment, type SimpleCommand } from "./shell-command.ts";
import { programName } from "./shell-wrappers.ts";
import { globsMeet, hasGlob, matchSequence, matchWildcard } from "./wildcard.ts";

/** `maybe` comes only from wide readings: it cannot be told before the command runs. */
export type PatternMatch = "yes" | "no" | "maybe";

export type Reading = "narrow" | "wide";

/**
 * A glob relative to the workspace root, or absolute. `*` stays within a folder, `**` crosses folders. Read narrowly, a
 * wildcard does not match a leading dot; read widely it does, and case does not matter.
 */
export function matchPath(pattern: string, path: string, reading: Reading, root: string | undefined): boolean {
  const wide = reading === "wide";
  const { matches, matchesBelow } = pathMatchers(pattern, wide);
  const relative = root === undefined ? lexical(path) : workspaceRelative(root, path);
  const candidates = [relative, path.startsWith("/") ? lexical(path) : undefined];
  if (candidates.some((candidate) => candidate !== undefined && matches(candidate))) return true;
  // Without a root an absolute path may be one of the workspace: a deny still has to hold.
  return wide && root === undefined && path.startsWith("/") && matchesBelow(path.slice(1));
}

interface PathMatchers {
  readonly matches: (path: string) => boolean;
  /** In any folder. */
  matchesBelow(path: string): boolean;
}

/** Patterns that are kept compiled; they come from rules, of which there are few. */
const MAX_COMPILED = 2000;
/** Module state, because it decides nothing: a matcher follows from the text of its pattern alone. */
const compiled = new Map<string, PathMatchers>();

function pathMatchers(pattern: string, wide: boolean): PathMatchers {
  const key = `${wide ? "wide" : "narrow"} ${pattern}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  // Parentheses and bars would reach the regular expression as groups.
  const glob = pattern.replace(/^(?:\.\/)+/, "").replace(/[()|]/g, "\\$&");
  // With the flag s a line break in a file name does not end the match early.
  const options = { dot: wide, flags: wide ? "is" : "s", noextglob: true, nonegate: true };
  const made = {
    matches: picomatch(glob, options),
    matchesBelow: (path: string) => picomatch(`**/${glob}`, options)(path),
  };
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(key, made);
  return made;
}

/**
 * `domain:example.com` is the host and everything below it. Otherwise `[scheme://]host[:port][/path]` with `*` inside a
 * host label or anywhere in the path; without a path every path. `maybe` when the URL cannot be read.
 */
export function matchUrl(pattern: string, subject: string, reading: Reading): PatternMatch {
  const url = URL.canParse(subject) ? new URL(subject) : undefined;
  const narrow = reading === "narrow";
  if (url === undefined) return narrow ? "no" : "maybe";
  if (narrow && (url.username !== "" || url.password !== "")) return "no";
  const host = url.hostname.replace(/\.+$/, "");
  const domain = /^domain:(.+)$/.exec(pattern)?.[1]?.toLowerCase();
  if (domain !== undefined) return host === domain || host.endsWith(`.${domain}`) ? "yes" : "no";
  const parts = URL_PATTERN.exec(pattern);
  if (parts === null) return narrow ? "no" : "maybe";
  const [, scheme, hostPattern = "", port, path] = parts;
  if (scheme === undefined ? narrow && !(url.protocol in DEFAULT_PORTS) : `${scheme.toLowerCase()}:` !== url.protocol) {
    return "no";
  }
  if (port !== undefined && port !== (url.port || DEFAULT_PORTS[url.protocol])) return "no";
  if (!matchHost(hostPattern.toLowerCase(), host)) return "no";
  if (path === undefined || path === "/*") return "yes";
  const target = url.pathname + url.search;
  if (matchWildcard(path, target)) return "yes";
  return !narrow && matchWildcard(path.toLowerCase(), percentDecoded(target).toLowerCase()) ? "yes" : "no";
}

/** Whether a pattern for `web.fetch` can be read at all. */
export function isUrlPattern(pattern: string): boolean {
  return /^domain:[\w.-]+$/.test(pattern) || (!pattern.startsWith("domain:") && URL_PATTERN.test(pattern));
}

const URL_PATTERN = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/:@\s]+|\[[0-9a-f:.]+\])(?::(\d+))?(\/.*)?$/i;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** Label by label, so that `*` stands for one label and never for a dot. */
function matchHost(pattern: string, host: string): boolean {
  const wanted = pattern.split(".");
  const labels = host.split(".");
  return wanted.length === labels.length && wanted.every((part, index) => matchWildcard(part, labels[index] ?? ""));
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The words of an argv pattern: split at blanks, quotes keep a word together, `…:*` at the end means ` *`. */
export function argvPattern(pattern: string): readonly string[] {
  const known = argvPatterns.get(pattern);
  if (known !== undefined) return known;
  const words = wordsOf(pattern);
  if (argvPatterns.size >= MAX_COMPILED) argvPatterns.clear();
  argvPatterns.set(pattern, words);
  return words;
}

const argvPatterns = new Map<string, readonly string[]>();

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
 * Words against words: a `*` of its own is any number of words, inside a word it is any run of characters. Read
 * narrowly, nothing around the command may go beyond its words. Read widely, the folder and the case of the program do
 * not matter and further words may follow.
 */
export function matchArgv(pattern: readonly string[], command: SimpleCommand, reading: Reading): PatternMatch {
  if (command.words.length === 0) return "no";
  return reading === "narrow" ? narrowArgv(pattern, command) : wideArgv(pattern, command);
}

function narrowArgv(pattern: readonly string[], command: SimpleCommand): PatternMatch {
  const [program = ""] = command.words;
  if (command.redirects.length > 0 || !command.assignments.every(isHarmlessAssignment)) return "no";
  if (command.poisoned !== undefined || command.dynamic.length > 0) return "no";
  // What a pattern allows is meant for the folder that the command starts in.
  if (command.folders.join() !== ".") return "no";
  if (command.unseen !== undefined && pattern.some(hasGlob)) return "no";
  if (command.open && pattern.at(-1) !== "*") return "no";
  // `./scripts/*` must not reach `./scripts/../../elsewhere`.
  if (hasGlob(pattern[0] ?? "") && program.split("/").includes("..")) return "no";
  return matchSequence(pattern, command.words, "*", matchWildcard) ? "yes" : "no";
}

function wideArgv(pattern: readonly string[], command: SimpleCommand): PatternMatch {
  const prefix = pattern.at(-1) === "*" ? pattern : [...pattern, "*"];
  const words = [programName(command.words).replace(/\.exe$/, ""), ...command.words.slice(1)];
  const [program = "", ...rest] = prefix;
  const folded = [program.slice(program.lastIndexOf("/") + 1).toLowerCase(), ...rest];
  if (matchSequence(folded, words, "*", matchWildcard)) return "yes";
  const reordered = optionsAnywhere(folded, words);
  if (reordered !== "no") return reordered;
  const [firstDynamic] = command.dynamic;
  if (firstDynamic !== undefined && mayContinue(folded, words.slice(0, firstDynamic))) return "maybe";
  const loose = (part: string, word: string, index: number): boolean =>
    matchWildcard(part, word) || (command.globbed.includes(index) && globsMeet(word, part));
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
  const isOption = (word: string): boolean => /^-./.test(word);
  const wanted = pattern.filter((word) => isOption(word) && !hasGlob(word));
  if (wanted.length === 0) return "no";
  const rest = pattern.filter((word) => !wanted.includes(word));
  if (
    !matchSequence(
      rest,
      words.filter((word) => !isOption(word)),
      "*",
      matchWildcard,
    )
  )
    return "no";
  const long = words.filter((word) => word.startsWith("--")).map((word) => word.split("=", 1)[0] ?? "");
  const letters = new Set(words.filter((word) => /^-[^-]/.test(word)).flatMap((word) => [...word.slice(1)]));
  const hasLong = (name: string): boolean => long.some((given) => given.length > 2 && name.startsWith(given));
  let match: PatternMatch = "yes";
  for (const option of wanted) {
    const [name = ""] = option.split("=", 1);
    if (words.includes(option)) continue;
    if (name.startsWith("--")) {
      if (hasLong(name)) continue;
      if (![...(LETTERS[name] ?? "")].some((letter) => letters.has(letter))) return "no";
      match = "maybe";
      continue;
    }
    for (const letter of name.slice(1)) {
      if (letters.has(letter)) continue;
      if (!Object.entries(LETTERS).some(([spelled, short]) => short.includes(letter) && hasLong(spelled))) return "no";
      match = "maybe";
    }
  }
  return match;
}

/** Whether words that come later could complete the pattern: what is there matches its beginning. */
function mayContinue(pattern: readonly string[], words: readonly string[]): boolean {
  if (words.length === 0) return true;
  return pattern.some((_, length) => matchSequence(pattern.slice(0, length), words, "*", matchWildcard));
}

function lexical(path: string): string {
  const absolute = path.startsWith("/");
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === ".." && segments.length > 0 && segments.at(-1) !== "..") segments.pop();
    else if (segment === ".." ? !absolute : segment !== "" && segment !== ".") segments.push(segment);
  }
  return (absolute ? "/" : "") + segments.join("/") || ".";
}
