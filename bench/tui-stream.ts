/**
 * What the full interface costs while an answer streams: 2,000 deltas at 200 a second, the bytes written for them and the CPU time of this
 * process, and how long a key takes to reach the screen meanwhile. With `code`, the answer is one long fence of code.
 * Usage: node bench/tui-stream.ts [deltas] [code]
 */
import type { ClientSession, Event } from "#client";
import { runInterface, type ScreenPort } from "#tui";
import { createSystemClock } from "#world";

const DELTAS = Number(process.argv[2] ?? 2_000);
const EVERY_MS = 5;
const IS_CODE = process.argv[3] === "code";
const CODE =
  "export function rowOf(items: readonly Item[], at: number): Row | undefined {\n  const item = items[at]; // absent behind the end\n  if (item === undefined) return undefined;\n  return { text: `name`, width: 12, mark: 'row' };\n}\n\n";
const pieces = CODE.match(/\s*\S{1,6}|\s+$/g) ?? [];
const words =
  "The writer changes only the live region and `leaves` the rest to the terminal, **which** keeps it. ".split(" ");
const clock = createSystemClock();
const stop = new AbortController();
let text = 0;

function envelope(id: number, kind: string, payload: unknown): Event {
  return { id, kind, payload, session: "sess_1", ts: new Date().toISOString() } as unknown as Event; // only what the fold reads
}

async function* events(): AsyncGenerator<Event> {
  let id = 0;
  yield envelope(++id, "TurnStarted", { turn: "t", content: [{ type: "text", text: "go" }], model: "m" });
  const begin = performance.now();
  for (let n = 0; n < DELTAS; n++) {
    const word = IS_CODE ? codePiece(n) : `${words[n % words.length]}${n % 40 === 39 ? "\n\n" : " "}`;
    text += word.length;
    yield envelope(++id, "TextDelta", { turn: "t", step: 1, block: 0, text: word });
    const due = begin + (n + 1) * EVERY_MS - performance.now();
    if (due > 0) await clock.sleep(due);
  }
  stop.abort();
}

function codePiece(n: number): string {
  return n === 0 ? "```ts\n" : (pieces[(n - 1) % pieces.length] ?? "");
}

let bytes = 0;
let onWrite = (): void => undefined;
let type = (_bytes: string): void => undefined;
const screen: ScreenPort = {
  size: () => ({ columns: 120, rows: 40 }),
  write(chunk) {
    bytes += Buffer.byteLength(chunk);
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
const submit = async (): Promise<never> => {
  throw new Error("the bench has no facts");
};
const session = { id: "sess_1", events, submit } as unknown as ClientSession; // what it asks of a session
const delays: number[] = [];
const keys = setInterval(() => {
  const begin = performance.now();
  onWrite = () => {
    delays.push(performance.now() - begin);
    onWrite = () => undefined;
  };
  type(delays.length % 40 === 39 ? "\u0015" : "k");
}, 97);
const before = process.cpuUsage();
await runInterface({
  screen,
  clock,
  theme: "dark",
  followsBackground: false,
  keys: {},
  client: { session: () => session, sessions: async () => [] },
  session,
  facts: { session: "sess_1", profile: "default", isCostShown: true },
  model: "m",
  since: 0,
  last: 0,
  history: () => [],
  draft: { text: "", keep: async () => undefined },
  reminder: { text: async () => "", hide: async () => undefined },
  commands: async () => [],
  editOutside: async () => undefined,
  remember: async () => undefined,
  attachedImages: {
    fromPaste: () => undefined,
    fromClipboard: async () => "",
    contentOf: async (text) => text,
  },
  send: async () => undefined,
  slash: async () => undefined,
  afterwards: () => undefined,
  save: async (name) => name,
  notices: () => undefined,
  describe: async (error) => String(error),
  signal: stop.signal,
  crashed: stop.signal,
});
clearInterval(keys);
const { user, system } = process.cpuUsage(before);
delays.sort((a, b) => a - b);
const at = (share: number): string => (delays[Math.floor(delays.length * share)] ?? 0).toFixed(1);
console.log(`${DELTAS} deltas, ${text} bytes of text`);
console.log(`bytes written: ${bytes} (${(bytes / text).toFixed(1)}x the text; at most 6x)`);
console.log(`CPU: ${((user + system) / 1e6).toFixed(2)} s (at most 1.0 s for 2,000)`);
console.log(`key to bytes: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms (at most 16 ms)`);
