/**
 * The pattern notation of the rule table: a part of regular expressions that is matched from left to right without ever going
 * back, so that its time is linear whatever the text. Characters, `\` escapes, classes, `{n}`, `{m,n}`, `{m,}`, `?` behind a
 * character or class, and `(?:a|b)` with plain alternatives. Every repetition takes all it can get.
 */
import { type CharSet, charSet, codeAt, has, runEnd, union } from "./char-set.ts";
import { createRunEnds, type Probe } from "./probe.ts";

interface Word {
  readonly kind: "word";
  readonly text: string;
}
interface Choice {
  readonly kind: "choice";
  readonly texts: readonly string[];
}
interface Run {
  readonly kind: "run";
  readonly set: CharSet;
  readonly min: number;
  /** UNBOUNDED for `{m,}`. */
  readonly max: number;
  readonly endOf: (probe: Probe, from: number) => number;
}
type Step = Word | Choice | Run;

export interface Shape {
  readonly steps: readonly Step[];
  /** The least that it can match. */
  readonly minChars: number;
  /** Characters that may not follow: those that would have made its last run longer. */
  readonly boundary: CharSet;
  /** The last run when it has no bound. */
  readonly openEnd: CharSet | undefined;
}

/** A small integer, as all places are: one other number makes all scanning several times slower. */
const UNBOUNDED = 2 ** 30 - 1;

export const NO_MATCH = -1;
export const NEEDS_MORE = -2;

/** The end of the match at `at`, NO_MATCH, or NEEDS_MORE when the text ends before that can be said. */
export function matchShape(shape: Shape, probe: Probe, at: number): number {
  const { steps } = shape;
  let here = at;
  for (let index = 0; index < steps.length && here >= 0; index++) {
    const step = steps[index]!;
    if (step.kind === "run") here = matchRun(step, probe, here);
    else if (step.kind === "word") here = matchWord(step.text, probe, here);
    else here = matchChoice(step.texts, probe, here);
  }
  return here;
}

function matchRun(step: Run, probe: Probe, at: number): number {
  const { min, max } = step;
  const { end } = probe;
  const to =
    max === UNBOUNDED ? step.endOf(probe, at) : runEnd(step.set, probe.text, at, at + max < end ? at + max : end);
  if (to === end && !probe.final && to - at < max) return NEEDS_MORE;
  return to - at < min ? NO_MATCH : to;
}

function matchWord(word: string, { text, end, final }: Probe, at: number): number {
  if (text.startsWith(word, at)) return at + word.length;
  return !final && end - at < word.length && word.startsWith(text.slice(at, end)) ? NEEDS_MORE : NO_MATCH;
}

/** The longest comes first; one that is cut off hides the shorter ones until more is known. */
function matchChoice(words: readonly string[], probe: Probe, at: number): number {
  for (const word of words) {
    const to = matchWord(word, probe, at);
    if (to !== NO_MATCH) return to;
  }
  return NO_MATCH;
}

/** Throws on a pattern that the notation does not have. */
export function parseShape(pattern: string): Shape {
  const steps = [...readSteps(pattern)];
  const last = steps.at(-1);
  if (last === undefined) throw new Error("a pattern cannot be empty");
  return {
    steps,
    minChars: steps.reduce((sum, step) => sum + minCharsOf(step), 0),
    boundary: last.kind === "run" ? union(last.set, charSet("A-Za-z0-9_")) : charSet("A-Za-z0-9_"),
    openEnd: last.kind === "run" && last.max === UNBOUNDED ? last.set : undefined,
  };
}

function* readSteps(pattern: string): Generator<Step> {
  let word = "";
  let at = 0;
  while (at < pattern.length) {
    const rest = pattern.slice(at);
    const choice = CHOICE.exec(rest);
    const atom = choice === null ? ATOM.exec(rest) : null;
    if (choice === null && atom === null) throw new Error(`unknown notation at ${at} of ${pattern}`);
    at += (choice ?? atom)![0].length;
    const step = choice === null ? stepOf(atom!) : choiceOf(choice);
    if (typeof step === "string") {
      word += step;
      continue;
    }
    if (word !== "") yield { kind: "word", text: word };
    word = "";
    yield step;
  }
  if (word !== "") yield { kind: "word", text: word };
}

const CHOICE = /^\(\?:([^()]*)\)/;
const ATOM = /^(?:\[((?:\\.|[^\]\\])+)\]|(\\[dsw])|(?:\\(.)|([^[\](){}*+|?\\])))(?:\{(\d+)(?:(,)(\d*))?\}|(\?))?/;

function choiceOf([, alternatives]: RegExpExecArray): Choice {
  const texts = alternatives!.split("|").map((text) => text.replace(/\\(.)/g, "$1"));
  return { kind: "choice", texts: texts.sort((a, b) => b.length - a.length) };
}

/** A run, or a plain character. */
function stepOf([, inBrackets, shorthand, escaped, plain, min, comma, max, optional]: RegExpExecArray): Run | string {
  const char = escaped ?? plain;
  if (char !== undefined && min === undefined && optional === undefined) return char;
  const set = charSet(inBrackets?.replaceAll("\\w", "A-Za-z0-9_") ?? shorthandSet(shorthand) ?? `\\${char}`);
  const low = optional !== undefined ? 0 : Number(min ?? 1);
  const high = optional !== undefined ? 1 : comma === undefined ? low : max === "" ? UNBOUNDED : Number(max);
  return { kind: "run", set, min: low, max: high, endOf: createRunEnds(set) };
}

function minCharsOf(step: Step): number {
  if (step.kind === "word") return step.text.length;
  return step.kind === "run" ? step.min : Math.min(...step.texts.map(({ length }) => length));
}

/** Whether one of what it matches holds a space. */
export function mayHoldSpace({ steps }: Shape): boolean {
  return steps.some((step) => {
    if (step.kind === "run") return has(step.set, SPACE);
    return step.kind === "word" ? step.text.includes(" ") : step.texts.some((text) => text.includes(" "));
  });
}

const SPACE = 32;
const MAX_HEADS = 12;

/** The parts of a pattern that its beginning can be told from: each stands for a few plain texts and is not repeated. */
const PLAIN_PART = /(?:[^[\](){}*+|?\\]|\\[^dsw])+(?![{?])/y;
const CLASS_PART = /\[((?:\\.|[^\]\\])+)\](?![{?])/y;
const CHOICE_PART = /\(\?:([^()]*)\)/y;

/**
 * The plain texts that a pattern can begin with, as far as they are few; one of them is in every match. It does not read the
 * rest: every start of the program asks for the beginnings of all patterns.
 */
export function headsOf(pattern: string): string[] {
  let heads = [""];
  for (let at = 0; at < pattern.length; ) {
    const part = partAt(PLAIN_PART, pattern, at) ?? partAt(CHOICE_PART, pattern, at) ?? partAt(CLASS_PART, pattern, at);
    if (part === undefined) break;
    const texts =
      part[1] === undefined
        ? [part[0].replace(/\\(.)/g, "$1")]
        : part[0].startsWith("(")
          ? choiceOf(part).texts
          : charsOf(charSet(part[1].replaceAll("\\w", "A-Za-z0-9_")));
    if (texts.length * heads.length > MAX_HEADS) break;
    heads = heads.flatMap((head) => texts.map((text) => head + text));
    at += part[0].length;
  }
  return heads;
}

function partAt(kind: RegExp, pattern: string, at: number): RegExpExecArray | undefined {
  kind.lastIndex = at;
  return kind.exec(pattern) ?? undefined;
}

function charsOf(set: CharSet): string[] {
  return [...set.subarray(0, -1).entries()].filter(([, isIn]) => isIn === 1).map(([code]) => String.fromCharCode(code));
}

function shorthandSet(shorthand: string | undefined): string | undefined {
  if (shorthand === undefined) return undefined;
  return shorthand === "\\w" ? "A-Za-z0-9_" : shorthand;
}

/** Whether the match may end at `to`: what follows would not have belonged to it. */
export function shapeEnds({ boundary }: Shape, { text }: Probe, to: number): boolean {
  return !has(boundary, codeAt(text, to));
}
