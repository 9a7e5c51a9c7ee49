/**
 * A session of 100,000 events on the full interface: the time from attaching until the conversation is on the screen, then the whole
 * transcript, read back to its first event, and how long a key takes there. Run with --expose-gc for the memory that is really used.
 * Usage: node --expose-gc bench/tui-transcript.ts [events]
 */
import { memoryUsage } from "node:process";
import type { ClientSession, Event } from "#client";
import { runInterface, type ScreenPort } from "#tui";
import { createSystemClock } from "#world";
import { interfaceParts } from "../test/fakes/interface-parts.ts";

const EVENTS = Number(process.argv[2] ?? 100_000);
const PER_TURN = 50;
const KEYS = 400;
const clock = createSystemClock();
const stop = new AbortController();
const session = { id: "sess_01GOLDEN", events, log } as unknown as ClientSession; // the interface reads these two

/** Made when it is read, so that the memory is that of the interface. */
function eventOf(id: number): Event {
  const at = (id - 1) % PER_TURN;
  const turn = `turn_${Math.floor((id - 1) / PER_TURN)}`;
  const call_id = `call_${Math.floor(id / 3)}`;
  const [kind, payload] =
    at === 0
      ? ["TurnStarted", { turn, content: [{ type: "text", text: `question ${turn}` }], model: "m" }]
      : at === PER_TURN - 1
        ? ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 9, output_tokens: 9 }, steps: 1 }]
        : id % 3 === 0
          ? [
              "ToolCallStarted",
              { turn, step: 1, block: 0, call_id, name: "exec", label: "Bash", args: { command: `make ${id}` } },
            ]
          : id % 3 === 1
            ? [
                "ToolResult",
                {
                  ...{ turn, step: 1, call_id, is_error: false, outcome: "ok", duration_ms: 10 },
                  content: [{ type: "text", text: `line of output ${id}\n`.repeat(10) }],
                },
              ]
            : [
                "TextDelta",
                { turn, step: id, block: 0, text: `A sentence with **event ${id}** in it, and \`code\`.\n\n` },
              ];
  return { id, kind, payload, session: "sess_01GOLDEN", ts: "2026-01-01T00:00:00.000Z" } as unknown as Event; // what the fold reads
}

async function* events({ since = 0 } = {}): AsyncGenerator<Event> {
  for (let id = since + 1; id <= EVENTS; id++) yield eventOf(id);
  await new Promise<void>((done) => stop.signal.addEventListener("abort", () => done(), { once: true }));
}

async function* log({ after = 0 } = {}): AsyncGenerator<Event> {
  for (let id = after + 1; id <= EVENTS; id++) {
    if ((id - after) % 500 === 1) await clock.sleep(0); // a page
    yield eventOf(id);
  }
}

let frame = "";
let onWrite = (): void => undefined;
let type = (_bytes: string): void => undefined;
const screen: ScreenPort = {
  size: () => ({ columns: 120, rows: 40 }),
  write(chunk) {
    frame += chunk;
    onWrite();
    return true;
  },
  onDrain: () => undefined,
  begin(on) {
    type = on.bytes;
    return () => undefined;
  },
  useFull: () => undefined,
  suspend: () => undefined,
  pause: () => () => undefined,
};

function shows(text: string): Promise<void> {
  return new Promise((done) => {
    onWrite = () => {
      if (!frame.includes(text)) return;
      onWrite = () => undefined;
      frame = "";
      done();
    };
    onWrite();
  });
}

function usedMb(): string {
  global.gc?.();
  const { heapUsed, rss } = memoryUsage();
  return `${(heapUsed / 2 ** 20).toFixed(0)} MB heap, ${(rss / 2 ** 20).toFixed(0)} MB resident`;
}

const before = memoryUsage().rss;
const begin = performance.now();
const over = runInterface({
  ...interfaceParts("dark", session),
  ...{ screen, clock, since: EVENTS - PER_TURN, last: EVENTS, signal: stop.signal },
});
await shows("1 step");
console.log(`${EVENTS} events: shown after ${Math.round(performance.now() - begin)} ms (at most 400)`);
console.log(`memory while attached: ${usedMb()} (at most 140 MB resident)`);
const opening = performance.now();
type("\u000f");
await shows("Transcript");
console.log(`transcript open after ${Math.round(performance.now() - opening)} ms`);
const reading = performance.now();
type("\u001b[H");
await shows("question turn_0");
console.log(`read to its first event after ${Math.round(performance.now() - reading)} ms`);
const delays: number[] = [];
for (let key = 0; key < KEYS; key++) {
  const pressed = performance.now();
  type(key % 3 === 0 ? "\u001b[6~" : "\u001b[B");
  delays.push(performance.now() - pressed);
  frame = "";
  await clock.sleep(0);
}
delays.sort((a, b) => a - b);
const p95 = delays[Math.floor(KEYS * 0.95)] ?? 0;
console.log(
  `key in the transcript: p50 ${(delays[KEYS / 2] ?? 0).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms (at most 16)`,
);
console.log(`memory with all of it read: ${usedMb()}; ${(before / 2 ** 20).toFixed(0)} MB resident before it began`);
stop.abort();
await over;
