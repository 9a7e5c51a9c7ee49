/**
 * What matchers look at and answer: a text whose end may still move (`final` false, in a stream), and whether something was
 * found, was not, or cannot be told before more text is there. A matcher never looks behind the end and never backtracks.
 */
import { ALNUM, type CharSet, charSet, codeAt, has, runEnd } from "./char-set.ts";

export const NOTHING = 0;
/** `from`, `to` and `run` of the probe say what. */
export const FOUND = 1;
/** Too early to say; nothing secret is in the text yet. */
export const PENDING = 2;
/** Too early to say; what is there may already be part of a secret. */
export const ARMED = 3;
export type Verdict = typeof NOTHING | typeof FOUND | typeof PENDING | typeof ARMED;

/** How a found run goes on when the text ends in it: as characters of a set, or as the body of a key block. */
export type OpenRun = CharSet | "key-block";

export interface Probe {
  readonly text: string;
  readonly end: number;
  /** No more text follows. */
  readonly final: boolean;
  /** Counts the texts, so that what was remembered about one is not used for another. */
  readonly generation: number;
  from: number;
  to: number;
  run: OpenRun | undefined;
}

/** Tried where a keyword was found: `at` is its first character, `after` the one behind its last. */
export type Matcher = (probe: Probe, at: number, after: number) => Verdict;

/**
 * The end of runs without a bound. It remembers the last run, because many attempts can begin in one long run and each would
 * walk to its end.
 */
export function createRunEnds(set: CharSet): (probe: Probe, from: number) => number {
  let generation = -1;
  let known = 0;
  let end = 0;
  return (probe, from) => {
    if (generation === probe.generation && from >= known && from <= end) return end;
    generation = probe.generation;
    known = from;
    end = runEnd(set, probe.text, from, probe.end);
    return end;
  };
}

export function found(probe: Probe, from: number, to: number, run?: OpenRun): Verdict {
  probe.from = from;
  probe.to = to;
  probe.run = run;
  return FOUND;
}

const MAX_COLOUR_CHARS = 20;
const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(String.raw`(?:${ESCAPE}|\\(?:x1b|033|e|u001b))\[[0-9;]{0,12}m$`, "i");
const HEX = /^[0-9A-Fa-f]{2}$/;

/**
 * Whether something may begin at `at`: the character before is no letter and no digit, or it only looks like one because it
 * ends an escape (`\n`, `%3D`, `\u0022`, the colour of a terminal).
 */
export function beginsHere(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  if (!has(ALNUM, before)) return true;
  const isEscape = codeAt(text, at - 2) === 92;
  if (isEscape && (before === 110 || before === 114 || before === 116)) return true;
  if (before === 109 && COLOUR.test(text.slice(Math.max(0, at - MAX_COLOUR_CHARS), at))) return true;
  if (codeAt(text, at - 3) === 37 && HEX.test(text.slice(at - 2, at))) return true;
  return codeAt(text, at - 6) === 92 && codeAt(text, at - 5) === 117;
}

const WORD = charSet("A-Za-z0-9_");

/** Whether a letter, a digit or `_` is at `at`, and belongs to what is before it. */
export function isInWord(text: string, at: number): boolean {
  return has(WORD, text.charCodeAt(at)) && !beginsHere(text, at);
}

/** Whether something may end in front of `at`: no letter or digit follows. */
export function endsHere(text: string, at: number): boolean {
  return !has(ALNUM, codeAt(text, at));
}
