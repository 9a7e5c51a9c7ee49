/**
 * Redaction of text that arrives in pieces. What cannot be decided yet is held back: usually the last word, at most
 * {@link STREAM_WINDOW_CHARS}. A secret that is longer than that is replaced when the window is full, and the rest of it is
 * swallowed as it comes. The pieces together give what the whole text would have given, however it was cut.
 */
import { redactionMarker } from "#base";
import { charSet, has, runEnd } from "./char-set.ts";
import { keyTailStart, matchKeyBody } from "./key-block-matcher.ts";
import { FOUND, type OpenRun, type Probe } from "./probe.ts";
import { type Finding, mergeFindings, type Scanner } from "./scanner.ts";

/** The most that is held back. */
export const STREAM_WINDOW_CHARS = 4_096;
/** When the window is full, what began in its first half is decided with what is there. */
const DECIDED_CHARS = STREAM_WINDOW_CHARS / 2;
/** How far the rules may look back at text that has gone out. */
const LOOK_BACK_CHARS = 256;
/** Lines of base64 may turn out to be the end of a key whose beginning was cut off. */
const KEY_TAIL_MIN_CHARS = 20;

/** The longest first part of a token that is told by what follows it. */
const LEAD_MAX_CHARS = 64;
const LEAD = charSet("A-Za-z0-9_~.:+/=-");
/** A word with digits of this length is not let go by `settle`. */
const ARMED_WORD_CHARS = 14;

export interface StreamRedactor {
  /** Takes more text; returns what can go out. */
  push(chunk: string): string;
  /**
   * No text has come for a while: returns what was held back only because a keyword might begin in it. A secret that has begun
   * stays held.
   */
  settle(): string;
  /** No more text comes: returns the rest. The stream can be used again. */
  flush(): string;
  readonly heldChars: number;
}

export function createTextStream(scan: Scanner, count: (kinds: readonly string[]) => void): StreamRedactor {
  /** Text that has gone out and may be looked back at, then what is held. */
  let raw = "";
  /** Up to here it has gone out. */
  let sent = 0;
  /** From here on the rules look again; before `sent` when something was let go that may be the beginning of a secret. */
  let undecided = 0;
  /** Up to here no secret is under way. */
  let safe = 0;
  /** What was found and has not gone out, in order and without overlaps. */
  let findings: Finding[] = [];
  /** A secret that was replaced and has not ended. */
  let inside: OpenRun | undefined;

  return {
    push(chunk) {
      if (inside !== undefined) return leave(chunk);
      raw += chunk;
      return advance();
    },
    settle() {
      return inside === undefined ? send(safe) : "";
    },
    flush() {
      let text = "";
      if (inside === undefined) {
        look(true);
        text = send(raw.length);
      }
      restart("");
      return text;
    },
    get heldChars() {
      return raw.length - sent;
    },
  };

  function advance(): string {
    const settled = look(false);
    const word = lastWord(raw);
    if (raw.length - word >= ARMED_WORD_CHARS && /\d/.test(raw.slice(word))) safe = Math.min(safe, word);
    const tail = heldKeyTail(raw);
    safe = Math.min(safe, tail);
    const out = send(Math.min(settled, word, tail));
    return raw.length - sent > STREAM_WINDOW_CHARS ? out + force() : out;
  }

  /** Looks at what is undecided; returns up to where it now is decided. */
  function look(final: boolean): number {
    const result = scan(raw, undecided, final, findings.at(-1));
    if (result.findings.length > 0) {
      findings = mergeFindings([...findings, ...result.findings]).filter(({ to }) => to > sent);
    }
    undecided = result.again;
    safe = result.safe;
    return result.settled;
  }

  /** The window is full: what began in its first half is decided as if the text ended here. */
  function force(): string {
    const later = undecided;
    look(true);
    const half = sent + DECIDED_CHARS;
    const last = findings.findLast(({ from }) => from < half);
    const isOpen = last?.run !== undefined && (last.to === raw.length || last.run === "key-block");
    const to = isOpen ? raw.length : Math.max(half, last?.to ?? 0);
    findings = findings.filter(({ from }) => from < half);
    // What began behind is looked at again when there is more of it.
    undecided = Math.max(later, to);
    safe = to;
    const out = send(to);
    if (isOpen) {
      inside = last.run;
      if (inside === "key-block") raw = lastLine(raw);
      sent = raw.length;
    }
    return out;
  }

  /** Sends everything before `limit`, but no part of a finding, and forgets what no rule can look back at. */
  function send(limit: number): string {
    const to = beforeFindings(findings, limit);
    if (to <= sent) return "";
    let out = "";
    let at = sent;
    let done = 0;
    for (; done < findings.length && findings[done]!.to <= to; done++) {
      const { from, to: end, kind } = findings[done]!;
      out += raw.slice(at, Math.max(at, from)) + redactionMarker(kind);
      at = end;
    }
    out += raw.slice(at, to);
    if (done > 0) count(findings.slice(0, done).map(({ kind }) => kind));
    sent = to;
    findings = findings.slice(done);
    forget(Math.min(sent, undecided) - LOOK_BACK_CHARS);
    return out;
  }

  function forget(chars: number): void {
    if (chars <= 0) return;
    raw = raw.slice(chars);
    sent -= chars;
    undecided -= chars;
    safe -= chars;
    findings = findings.map((finding) => ({ ...finding, from: finding.from - chars, to: finding.to - chars }));
  }

  /** Swallows the rest of a secret, and goes on behind it. */
  function leave(chunk: string): string {
    if (inside === "key-block") {
      raw += chunk;
      const probe: Probe = { text: raw, end: raw.length, final: false, generation: -2, from: 0, to: 0, run: undefined };
      if (matchKeyBody(probe, 0, 0, true) !== FOUND) {
        raw = lastLine(raw);
        sent = raw.length;
        return "";
      }
      restart(raw.slice(probe.to));
      return advance();
    }
    const end = runEnd(inside!, chunk, 0, chunk.length);
    if (end === chunk.length) return "";
    restart(chunk.slice(end));
    return advance();
  }

  function restart(rest: string): void {
    raw = rest;
    sent = 0;
    undecided = 0;
    safe = 0;
    findings = [];
    inside = undefined;
  }
}

/** A finding that reaches behind `at` is not sent yet, and what is before it ends there. */
function beforeFindings(findings: readonly Finding[], at: number): number {
  let limit = at;
  for (let index = findings.length - 1; index >= 0; index--) {
    const { from, to } = findings[index]!;
    if (to <= limit) break;
    if (from < limit) limit = from;
  }
  return limit;
}

/** The last line, so that a key that is swallowed is never taken up in the middle of one. */
function lastLine(text: string): string {
  const tail = text.slice(-LOOK_BACK_CHARS);
  return tail.slice(Math.max(0, tail.lastIndexOf("\n"), tail.lastIndexOf("\\n")));
}

/** Where the last word begins: some tokens are told only by what comes behind their first part. Of a long word the end alone. */
function lastWord(text: string): number {
  const limit = Math.max(0, text.length - LEAD_MAX_CHARS);
  let start = text.length - (DATA_SOURCE.exec(text.slice(-DATA_SOURCE_CHARS))?.[0].length ?? 0);
  while (start > limit && has(LEAD, text.charCodeAt(start - 1))) start -= 1;
  return start;
}

const DATA_SOURCE_CHARS = "@unix".length;
/** What follows the password in an address of Go. */
const DATA_SOURCE = /@(?:t|tc|tcp|u|un|uni|unix)?$/;

/** Where lines begin at the end of the text that may belong to a key without its beginning. */
function heldKeyTail(text: string): number {
  const dashes = /-{1,5}(?:E(?:N(?:D ?)?)?)?$/.exec(text.slice(-9))?.[0].length ?? 0;
  const end = text.length - dashes;
  const start = keyTailStart(text, end, STREAM_WINDOW_CHARS);
  return end - start >= KEY_TAIL_MIN_CHARS && /\d/.test(text.slice(start, end)) ? start : text.length;
}
