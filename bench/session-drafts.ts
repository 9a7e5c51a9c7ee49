/** Events as a session of an agent has them, in their proportions: mostly small deltas, some calls and results. */
import type { EventDraft } from "#engine";
import { CallId, TurnId } from "#protocol";

const TS = "2026-01-01T00:00:00.000Z";
const SENTENCE = "The quick brown fox jumps over the lazy dog, and then it reads the file again. ";
const usage = { input_tokens: 1200, output_tokens: 300, cache_read_tokens: 800, cache_write_tokens: 0 };
const STEPS = 4;
const DELTAS = 16;

/** About as many drafts as asked for, in whole turns; a compaction after every `compactEvery` events when that is given. */
export function* sessionDrafts(events: number, compactEvery = Number.POSITIVE_INFINITY): Generator<EventDraft> {
  let id = 0;
  let compactedAt = 0;
  for (let turnNumber = 0; id < events; turnNumber++) {
    for (const draft of turnDrafts(turnNumber)) {
      id += 1;
      yield draft;
    }
    if (id - compactedAt < compactEvery) continue;
    const payload = { turn: turnId(turnNumber), boundary: id, summary: SENTENCE.repeat(20) };
    id += 1;
    yield { kind: "CompactionTriggered", ts: TS, payload };
    compactedAt = id;
  }
}

function* turnDrafts(number: number): Generator<EventDraft> {
  const turn = turnId(number);
  const content = [{ type: "text" as const, text: SENTENCE }];
  yield { kind: "TurnStarted", ts: TS, payload: { turn, content, model: "bench:one" } };
  for (let step = 1; step <= STEPS; step++) {
    for (let i = 0; i < DELTAS; i++) {
      yield {
        kind: "TextDelta",
        ts: TS,
        payload: { turn, step, block: 0, text: SENTENCE.slice(0, 20 + ((i * 7) % 60)) },
      };
    }
    const call_id = CallId.from(digits(number * STEPS + step));
    const name = "fs.read";
    const args = { path: `src/file-${step}.ts`, limit: 200 };
    const args_hash = "0".repeat(64);
    yield {
      kind: "ToolCallStarted",
      ts: TS,
      payload: { turn, step, block: 1, call_id, name, label: "Read", args, class: "read_only" },
    };
    yield { kind: "ToolIntent", ts: TS, payload: { turn, step, call_id, name, class: "read_only", args_hash } };
    yield { kind: "ToolOutcome", ts: TS, payload: { turn, call_id, outcome: "ok", result_hash: args_hash } };
    const result = [{ type: "text" as const, text: SENTENCE.repeat(10) }];
    const ended = { content: result, is_error: false, outcome: "ok" as const, duration_ms: 3 };
    yield { kind: "ToolResult", ts: TS, payload: { turn, step, call_id, name, ...ended } };
    yield { kind: "CostIncremented", ts: TS, payload: { turn, step, provider: "bench", model: "bench:one", usage } };
  }
  yield { kind: "TurnEnded", ts: TS, payload: { turn, outcome: "answered", steps: STEPS, usage, duration_ms: 9 } };
}

function turnId(number: number): TurnId {
  return TurnId.from(digits(number));
}

function digits(number: number): string {
  return String(number).padStart(26, "0");
}
