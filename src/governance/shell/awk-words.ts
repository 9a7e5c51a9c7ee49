/**
 * Takes an awk program apart into tokens that gawk, mawk, busybox and the original awk all read alike. A slash is the hard
 * part: it counts only behind a token where every awk agrees on whether a pattern or a division begins.
 */
import { wordSet } from "#base";
import { patternEnd } from "./bracket-expression.ts";

export interface AwkToken {
  readonly kind: "number" | "string" | "pattern" | "name" | "function" | "keyword" | "operator" | "end";
  readonly text: string;
}

/** What the grammar knows; every other word that some awk gives a meaning is in `RESERVED`. */
const KEYWORDS = wordSet("BEGIN END if else while do for in next nextfile exit break continue delete print printf");

/** They compute and touch nothing else. */
const FUNCTIONS = wordSet(
  "length substr index split sub gsub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand " +
    "gensub strtonum and or xor compl lshift rshift strftime mktime systime asort asorti patsplit typeof isarray",
);

/** Words that some awk does not read as a variable. */
const RESERVED = wordSet(
  "function func return switch case default getline system close fflush include load namespace eval extension " +
    "bindtextdomain dcgettext dcngettext mkbool readfile abort",
);

/** Variables of awk itself that steer how lines are taken apart and joined, and no more. */
const OWN_VARIABLES = wordSet("NF NR FNR FS OFS ORS RS RT FILENAME RSTART RLENGTH SUBSEP IGNORECASE FPAT FIELDWIDTHS");

const BEFORE_PATTERN = wordSet("( , ~ !~ && || !");
/** Between two rules, outside all braces. */
const BEFORE_RULE = wordSet("; } \n");
const BEFORE_DIVISION = wordSet(") ]");
/** A line goes on behind these. */
const BEFORE_BREAK = wordSet("{ , && || ; \n else do");

const BLANKS = /[ \t]+|#[^\n\\]*(?=\n|$)/y;
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
const NAME = /[A-Za-z_]\w*/y;
const OPERATOR = /&&|\|\||\+\+|--|[-+*%^<>=!]=|!~|[-+*%^<>=!~?:,;$(){}[\]\n]/y;

/** Undefined when some awk might read the program differently, or gives one of its words a meaning that is not known here. */
export function awkTokens(program: string): readonly AwkToken[] | undefined {
  const tokens: AwkToken[] = [];
  let at = 0;
  let braces = 0;
  let groups = 0;
  const read = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(program)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  while (at < program.length) {
    if (read(BLANKS) !== undefined) continue;
    const last = tokens.at(-1);
    const char = program[at] ?? "";
    if (char === "/") {
      const end = startsPattern(last, braces + groups) ? awkPatternEnd(program, at) : undefined;
      if (end !== undefined) tokens.push({ kind: "pattern", text: program.slice(at, end) });
      else if (startsDivision(last)) tokens.push({ kind: "operator", text: program[at + 1] === "=" ? "/=" : "/" });
      else return undefined;
      at = end ?? at + (tokens.at(-1)?.text.length ?? 1);
      continue;
    }
    const token = char === '"' ? textToken("string", read(STRING)) : plainToken(read);
    if (token === undefined) return undefined;
    const { text } = token;
    if (text === "{" || text === "}") braces += text === "{" ? 1 : -1;
    if (/^[([]$/.test(text)) groups++;
    if (/^[)\]]$/.test(text)) groups--;
    if (braces < 0 || groups < 0) return undefined;
    if (text !== "\n" || (last !== undefined && !BEFORE_BREAK.has(last.text))) tokens.push(token);
  }
  return [...tokens, { kind: "end", text: "" }];
}

/** True for a variable of the program's own, or one of awk's that is harmless to set. */
export function isAwkVariable(name: string): boolean {
  if (OWN_VARIABLES.has(name)) return true;
  return /^(?:_*[a-z]\w*|[A-Z]\d*|[A-Z]\w*[a-z]\w*)$/.test(name) && !isTaken(name);
}

function isTaken(name: string): boolean {
  return KEYWORDS.has(name) || FUNCTIONS.has(name) || RESERVED.has(name);
}

function plainToken(read: (pattern: RegExp) => string | undefined): AwkToken | undefined {
  const number = read(NUMBER);
  if (number !== undefined) return { kind: "number", text: number };
  const name = read(NAME);
  if (name === undefined) return textToken("operator", read(OPERATOR));
  if (KEYWORDS.has(name)) return { kind: "keyword", text: name };
  if (FUNCTIONS.has(name)) return { kind: "function", text: name };
  return isAwkVariable(name) ? { kind: "name", text: name } : undefined;
}

function textToken(kind: AwkToken["kind"], text: string | undefined): AwkToken | undefined {
  return text === undefined ? undefined : { kind, text };
}

function startsPattern(last: AwkToken | undefined, depth: number): boolean {
  if (last === undefined) return true;
  return last.kind === "operator" && (BEFORE_PATTERN.has(last.text) || (depth === 0 && BEFORE_RULE.has(last.text)));
}

function startsDivision(last: AwkToken | undefined): boolean {
  if (last === undefined) return false;
  return last.kind === "number" || last.kind === "name" || (last.kind === "operator" && BEFORE_DIVISION.has(last.text));
}

/** `/=` may be an assignment, and `//` a pattern or nothing. */
function awkPatternEnd(program: string, start: number): number | undefined {
  return /[=/]/.test(program[start + 1] ?? "/") ? undefined : patternEnd(program, start + 1, "/");
}
