/** What stands in front of the name of a field, and says how its value is written: a flag, a login, a variable of the environment. */
import { charSet, codeAt, has, NAME, runEnd } from "./char-set.ts";
import { LOOK_BACK } from "./field-name.ts";

const SPACE = charSet(" \\t");
const BLANK = charSet("\\s");

export function nameStart(text: string, at: number): number {
  let start = at;
  const least = Math.max(0, at - LOOK_BACK);
  while (start > least && has(NAME, text.charCodeAt(start - 1))) start -= 1;
  return start;
}

export function isFlag(text: string, at: number, start: number): boolean {
  const isLong = text.startsWith("--", start) || (codeAt(text, start) === DASH && at - start < MAX_JAVA_FLAG_CHARS);
  return isLong && has(BLANK, start === 0 ? 32 : codeAt(text, start - 1));
}

const DASH = 45;
/** `-storepass`, `-Password`: flags of Java and PowerShell have one dash. */
const MAX_JAVA_FLAG_CHARS = 16;

/** `login ada password …`: two words in front of the name, the first of which says who it is. */
export function isNetrc(text: string, at: number): boolean {
  const least = Math.max(0, at - LOOK_BACK);
  let here = at;
  while (here > least && has(BLANK, text.charCodeAt(here - 1))) here -= 1;
  if (here === at) return false;
  while (here > least && !has(BLANK, text.charCodeAt(here - 1))) here -= 1;
  const value = here;
  while (here > least && has(SPACE, text.charCodeAt(here - 1))) here -= 1;
  return here < value && has(ENDS_LOGIN, codeAt(text, here - 1)) && LOGIN.test(text.slice(least, here));
}

/** The last letters of what {@link LOGIN} allows. */
const ENDS_LOGIN = charSet("netr");
const LOGIN = /\b(?:login|machine|account|user|username)$/;

/** The last characters of what can stand in front of a variable of an environment; the `n` is that of an escape. */
const ENDS_BEFORE_NAME = charSet("\\n +n-");

const VARIABLE = charSet("A-Z0-9_");
const LINE_FEED = 10;

/** `NAME=value` where a line, or a command with `export`, begins. */
export function isEnvironment(text: string, at: number, after: number, value: number): boolean {
  if (codeAt(text, value - 1) !== 61 || value - after > 4) return false;
  const start = nameStart(text, at);
  if (start > 0 && !has(ENDS_BEFORE_NAME, codeAt(text, start - 1))) return false;
  if (runEnd(VARIABLE, text, start, after) < after) return false;
  if (start === 0 || text.charCodeAt(start - 1) === LINE_FEED) return true;
  const before = text.slice(Math.max(0, start - 8), start);
  return /(?:\n|^[+ -]?|\\n|export |ENV |ARG |-e |--env )$/.test(before) || /\n[+ -]$/.test(before);
}
