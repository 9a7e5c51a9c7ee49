/**
 * What was said in sessions: inputs, answers and the arguments of calls, read through the client one session after the other, newest first.
 * Bounded, and over at once when it is cancelled. Results of tools are not read.
 */
import type { EngineClient, SessionInfo } from "#client";
import type { Event } from "#protocol";

export interface FoundSession {
  readonly info: SessionInfo;
  /** The first text with all of the words, around them. */
  readonly excerpt: string;
}

export interface SearchReport {
  readonly found: readonly FoundSession[];
  readonly searched: number;
  /** Sessions that there are. */
  readonly of: number;
}

const MAX_SESSIONS = 300;
const MAX_FOUND = 100;
/** Of one session, and of all: a search ends within seconds. */
const MAX_EVENTS_OF_SESSION = 20_000;
const MAX_EVENTS = 200_000;
/** Of one answer; what follows is not searched. */
const MAX_TEXT_CHARS = 100_000;
const BEFORE_CHARS = 40;
const EXCERPT_CHARS = 240;

export async function searchSessions(
  client: Pick<EngineClient, "session">,
  sessions: readonly SessionInfo[],
  words: string,
  signal: AbortSignal,
): Promise<SearchReport> {
  const wanted = folded(words)
    .split(/\s+/)
    .filter((word) => word !== "");
  const found: FoundSession[] = [];
  let searched = 0;
  let left = MAX_EVENTS;
  for (const info of sessions.slice(0, MAX_SESSIONS)) {
    if (signal.aborted || left <= 0 || found.length >= MAX_FOUND || wanted.length === 0) break;
    let events = 0;
    const log = client.session(info.id).log();
    for await (const text of textsOf(log, () => ++events)) {
      const excerpt = excerptOf(text, wanted);
      if (excerpt !== undefined) found.push({ info, excerpt });
      if (excerpt !== undefined || signal.aborted || events >= Math.min(MAX_EVENTS_OF_SESSION, left)) break;
    }
    left -= events;
    searched += 1;
  }
  return { found, searched, of: sessions.length };
}

/** Pieces of one answer as one text. `count` is called for each event. */
async function* textsOf(log: AsyncIterable<Event>, count: () => void): AsyncGenerator<string, void, undefined> {
  let answer = "";
  let key = "";
  for await (const event of log) {
    count();
    const next = event.kind === "TextDelta" ? `${event.payload.turn}/${event.payload.step}/${event.payload.block}` : "";
    if (event.kind === "TextDelta" && next === key) {
      if (answer.length < MAX_TEXT_CHARS) answer += event.payload.text;
      continue;
    }
    // Also where there is nothing: whoever reads may stop at each event.
    yield answer;
    key = next;
    answer = event.kind === "TextDelta" ? event.payload.text : otherText(event);
  }
  yield answer;
}

function otherText(event: Event): string {
  switch (event.kind) {
    case "TurnStarted":
    case "TurnSteered":
      return event.payload.content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
    case "ToolCallStarted":
      return `${event.payload.label} ${JSON.stringify(event.payload.args ?? "")}`.slice(0, MAX_TEXT_CHARS);
    default:
      return "";
  }
}

function excerptOf(text: string, words: readonly string[]): string | undefined {
  if (text === "") return undefined;
  const all = folded(text);
  const at = words.map((word) => all.indexOf(word));
  if (at.includes(-1)) return undefined;
  // Folding may change lengths by a little: the excerpt is around the words, not exactly at them.
  const from = Math.max(0, Math.min(...at) - BEFORE_CHARS);
  const part = text
    .slice(from, from + EXCERPT_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  return `${from > 0 ? "…" : ""}${part}`;
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
