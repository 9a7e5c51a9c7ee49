/** Values of fields whose name says that they are secret. The name calls for a look; the value must bear it out. */
import { ALNUM, charSet, codeAt, DIGIT, has, runEnd } from "./char-set.ts";
import {
  isCodeName,
  isDullWord,
  isExpression,
  isPlaceholder,
  isReference,
  JUDGED_CHARS,
  judgedPart,
  LEAST_LETTERS_ONLY_CHARS,
  type Makeup,
  makeup,
} from "./checks.ts";
import { createFieldSyntax, type FieldStyle, type FieldSyntax, quotedSet, TO_BLANK, UNQUOTED } from "./field-syntax.ts";
import { isRandomLetters } from "./letter-pairs.ts";
import { ARMED, createRunEnds, found, NOTHING, PENDING, type Probe } from "./probe.ts";
import type { FieldRow } from "./rule.ts";
import type { KeywordMatcher } from "./token-matcher.ts";

/** What `-` in a name of the table stands for. */
const JOINTS = ["", "_", "-", " ", "."];

/** Matchers for all rows, which share what they learn about a place in the text. */
export function createFieldMatchers(rows: readonly FieldRow[]): readonly KeywordMatcher[] {
  const read = createFieldSyntax();
  const nextDigit = createRunEnds(charSet("^0-9"));
  const isPlain = createIsPlain(nextDigit);
  const syntax: FieldSyntax = { state: "none", from: 0, to: 0, style: "unquoted", isCode: false, isSuffixed: false };
  let generation = -1;
  let known = -1;
  /** Levels, as bits: what was not secret enough for one name is not for another that asks for as much. */
  let rejected = 0;
  return rows.map((row) => ({
    keywords: row.names.flatMap((name) =>
      name.includes("-") ? JOINTS.map((joint) => name.replaceAll("-", joint)) : [name],
    ),
    match(probe, at, after) {
      const { text } = probe;
      if (row.whole && at > 0 && has(ALNUM, codeAt(text, at - 1))) return NOTHING;
      if (generation !== probe.generation || known !== after) {
        generation = probe.generation;
        known = after;
        rejected = 0;
        read(probe, at, after, syntax);
      }
      if (syntax.state === "none" || syntax.isCode) return NOTHING;
      if (syntax.state === "unfinished") return PENDING;
      if (syntax.state === "growing") return ARMED;
      if ((rejected & LEVELS[row.value]) !== 0) return NOTHING;
      const { from, to, style } = syntax;
      const mustBeMixed = row.value === "token" || row.value === "secret" || syntax.isSuffixed;
      if (mustBeMixed && isPlain(probe, from, to) && !isRandomLetters(judgedPart(text, from, to))) return NOTHING;
      if (style === "prose" && nextDigit(probe, from) >= to) return NOTHING;
      const start = skipScheme(text, from, to);
      if (
        !isSecretValue(row.value, text, start, to, syntax.isSuffixed ? "listed" : style) &&
        !(row.value === "password" && style === "unquoted" && isAssignedWord(text, from, to))
      ) {
        rejected |= LEVELS[row.value];
        return NOTHING;
      }
      // What the longest name has found, a shorter one would find again.
      syntax.state = "none";
      return found(probe, start, to, openRun(probe, from, to, style));
    },
  }));
}

const LEVELS = { any: 1, password: 2, secret: 4, token: 8 } as const;

/**
 * No digit, and letters of one case at most: no token. Asked before the value is looked at in full, because the next characters
 * of each sort are remembered and names in a row ask for the same ones.
 */
function createIsPlain(
  nextDigit: (probe: Probe, from: number) => number,
): (probe: Probe, from: number, to: number) => boolean {
  const nextLower = createRunEnds(charSet("^a-z"));
  const nextUpper = createRunEnds(charSet("^A-Z"));
  return (probe, from, to) => {
    const end = Math.min(to, from + JUDGED_CHARS);
    if (nextDigit(probe, from) < end) return false;
    return nextLower(probe, from) >= end || nextUpper(probe, from) >= end;
  };
}

/** `Bearer`, `Basic` and `token` in front of what an `Authorization` holds. */
function skipScheme(text: string, from: number, to: number): number {
  if (!has(SCHEME_LETTER, codeAt(text, from))) return from;
  const end = Math.min(to, from + MAX_SCHEME_CHARS);
  if (runEnd(NO_SPACE, text, from, end) === end) return from;
  const scheme = /^(?:bearer|basic|token|apikey|digest) +/i.exec(text.slice(from, Math.min(to, from + 12)));
  return scheme === null ? from : from + scheme[0].length;
}

const SCHEME_LETTER = charSet("BbTtAaDd");
const NO_SPACE = charSet("^ ");
const MAX_SCHEME_CHARS = 7;

function openRun({ text, end }: Probe, from: number, to: number, style: FieldStyle) {
  if (to < end) return undefined;
  if (style === "quoted" || style === "listed") return quotedSet(text.charAt(from - 1));
  return style === "environment" ? TO_BLANK : UNQUOTED;
}

/**
 * `password=sunshine`, as files of settings, queries and connection strings have it: a word right behind the sign, and behind it the
 * end of the line or of the parameter. In code, a call or a list goes on there, or the word is the name of another variable.
 */
function isAssignedWord(text: string, from: number, to: number): boolean {
  if (codeAt(text, from - 1) !== EQUALS || has(BLANK, codeAt(text, from - 2))) return false;
  if (to - from < LEAST_ASSIGNED_CHARS || to - from > JUDGED_CHARS || runEnd(SMALL, text, from, to) < to) return false;
  if (to < text.length && !has(ENDS_PARAMETER, codeAt(text, to))) return false;
  const value = text.slice(from, to);
  return !isDullWord(value) && !OTHER_VARIABLE.test(value) && !isPlaceholder(value, ANY_DISTINCT);
}

const EQUALS = 61;
const BLANK = charSet("\\s");
const SMALL = charSet("a-z");
const ENDS_PARAMETER = charSet("\\s&;\"'");
const LEAST_ASSIGNED_CHARS = 8;
const OTHER_VARIABLE = /pass|pwd|secret|token|key|cred|user|value|input|prompt|hash|random|generate|optional|required/;

/** Whether a value bears out what the name of its field says. */
function isSecretValue(level: FieldRow["value"], text: string, from: number, to: number, style: FieldStyle): boolean {
  const length = to - from;
  if (length < LEAST_CHARS[level]) return false;
  const made = makeup(text, from, to);
  if (length < LEAST_WORD_CHARS && made.digits < length) return false;
  // Cheap before dear: most attempts end before the patterns are tried.
  if (made.distinct <= 2 && !(level === "any" && made.digits === length)) return false;
  if (style === "prose" && (length < 6 || made.digits === 0 || (made.digits === length && level !== "any")))
    return false;
  const value = judgedPart(text, from, to);
  if (level === "secret" && !isRandom(made, value, LEAST_SECRET_ENTROPY)) return false;
  if (level === "token" && !isRandom(made, value, LEAST_TOKEN_ENTROPY)) return false;
  if ((style === "listed" || style === "block") && !isUncommon(made, value)) return false;
  if (made.digits === 0 && isDullWord(value)) return false;
  if (made.hasCodeMarks && style !== "quoted" && style !== "listed" && isExpression(value)) return false;
  if (style === "unquoted" && level !== "password" && isCodeName(value, made) && !isRandomLetters(value)) return false;
  if (level === "password" && !isPassword(made, value, style)) return false;
  if ((level === "secret" || level === "token") && !isToken(made, value)) return false;
  const mayRefer = made.hasCodeMarks || has(OPENS_REFERENCE, codeAt(value, 0));
  return !(mayRefer && isReference(value)) && !isPlaceholder(value, made.distinct <= 2 ? ANY_DISTINCT : made);
}

/** What a reference without marks of code begins with: a path, `sha256-…`, `secretsmanager…`, `ref+…`. */
const OPENS_REFERENCE = charSet("/sr");
const ANY_DISTINCT = { distinct: 3 };
const LEAST_CHARS = { any: 3, password: 4, secret: 10, token: 12 } as const;
/** Three digits can be a code, three letters are nothing. */
const LEAST_WORD_CHARS = 4;
const LEAST_SECRET_ENTROPY = 2.6;
const LEAST_TOKEN_ENTROPY = 2.9;

function isPassword(made: Makeup, value: string, style: FieldStyle): boolean {
  const { length, lower, upper, digits, marks } = made;
  if (style === "environment") return true;
  if (style === "listed") return true;
  if (style === "quoted") {
    if (value.includes(" ")) return digits > 0 && upper + lower > 0 && length >= 8 && value.split(" ").length <= 3;
    if (digits === 0 && marks === 0) {
      return upper === 0 ? length >= 6 : (upper > 1 && lower > 1 && length >= 8) || isRandomLetters(value);
    }
    return length >= 5 && (digits > 0 || !JOINED_WORDS.test(value));
  }
  if (digits + marks === 0) return isJumble(made, value);
  if (length < 6) return false;
  return digits === length || !((digits === 0 && JOINED_WORDS.test(value)) || (marks > 0 && isCodeName(value, made)));
}

/** Where names and other values stand as well as secrets: letters and digits that are no word with a number. */
function isUncommon(made: Makeup, value: string): boolean {
  const { length, lower, upper, digits, marks } = made;
  if (digits === 0) return isJumble(made, value);
  if (length < LEAST_UNCOMMON_CHARS || lower + upper === 0) return false;
  if (marks > 0 && NO_SECRET.test(value))
    return length >= LEAST_SALT_CHARS && made.entropy >= LEAST_SALT_ENTROPY && !value.includes(" ");
  return !isCodeName(value, made) && ((lower > 1 && upper > 1) || !isIdentifiers(made, value));
}

const LEAST_UNCOMMON_CHARS = 8;
/** Long and of all sorts of characters: what generators of keys for PHP make. */
const LEAST_SALT_CHARS = 48;
const LEAST_SALT_ENTROPY = 4.5;
/** More than one word, a call, a pattern, an assignment. */
const NO_SECRET = /[\s:([\]{}<>\\]|\w=./;

function isRandom(made: Makeup, value: string, leastEntropy: number): boolean {
  const { lower, upper, digits, marks, length, entropy } = made;
  if (entropy < leastEntropy) return false;
  if (digits === 0) {
    const isMixed = length >= LEAST_LETTERS_ONLY_CHARS && lower > 2 && upper > 2 && marks <= length / 8;
    return isMixed || isRandomLetters(value);
  }
  return lower + upper > 0 || (length >= 16 && marks === 0);
}

function isToken(made: Makeup, value: string): boolean {
  if ((made.marks > 0 && value.includes(" ")) || (has(DIGIT, codeAt(value, 0)) && DATE.test(value))) return false;
  if (value.length >= LEAST_ID_CHARS && OWN_ID.test(value)) return false;
  if (isIdentifiers(made, value)) return isJumble(made, value);
  return made.digits > 0 || isRandomLetters(value) || !(CAMEL.test(value) || isCodeName(value, made));
}

/** Letters, hardly a digit, and no words: what a generator makes now and then. */
function isJumble(made: Makeup, value: string): boolean {
  const { length, lower, upper, marks } = made;
  if (isRandomLetters(value)) return true;
  return length >= LEAST_LETTERS_ONLY_CHARS && lower > 2 && upper > 2 && marks === 0 && !isCodeName(value, made);
}

function isIdentifiers({ digits }: Makeup, value: string): boolean {
  // Digits are at its end, or nowhere.
  return (digits === 0 || has(ENDS_IDENTIFIER, codeAt(value, value.length - 1))) && IDENTIFIERS.test(value);
}

const ENDS_IDENTIFIER = charSet("0-9?!*:");

/** Words joined by marks: a name of something, not a password. */
const JOINED_WORDS = /^[$@]?[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)+[?!*:]*$/;
/** Words, joined or not, with at most a small number at the end: a name of something, not a token. */
const IDENTIFIERS = /^[$@]?[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*(?:[-_.]?v?\d{1,3})?[?!*:]*$/;
const DATE = /^\d{4}-\d\d-\d\d/;
const CAMEL = /^[A-Za-z][a-z]+(?:[A-Z][a-z]{2,})*$/;
const LEAST_ID_CHARS = 30;
/** An id of ours names something; it opens nothing. */
const OWN_ID = /^(?:sess|turn|call|cli|log|tok|item|appr)_[0-9A-HJKMNP-TV-Z]{26}$/;
