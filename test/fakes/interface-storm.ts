/** Random sizes, keys and events on the interface, with a seed; what is on the screen is compared with a fresh render of the state. */
import { setImmediate } from "node:timers/promises";
import headless from "@xterm/headless";
import { createSeededRandom } from "../../bench/seeded-random.ts";
import type { ClientSession } from "../../src/client/index.ts";
import { paintFullScreen } from "../../src/tui/full-screen.ts";
import type { InterfaceParts } from "../../src/tui/interface.ts";
import { createPainter } from "../../src/tui/painter.ts";
import { createRunning } from "../../src/tui/running.ts";
import { WRAP_OFF } from "../../src/tui/screen-port.ts";
import { nothingDisplayed, paintFrame, type Size } from "../../src/tui/screen-writer.ts";
import { initialState } from "../../src/tui/state.ts";
import { sceneEvent } from "./golden-screens.ts";
import { useGraphemes } from "./graphemes.ts";
import { interfaceParts } from "./interface-parts.ts";

export interface StormReport {
  readonly compared: number;
  readonly differences: readonly string[];
  readonly restored: boolean;
}

/** Each is whole: none needs a moment in which nothing follows. */
const KEYS = [
  ..."aZ/?!構🚀é ",
  ...["\r", "\u001b[27u", "\u001b[A", "\u001b[B", "\u001b[5~", "\u001b[6~", "\u001b[H", "\u001b[F", "\t", "\u007f"],
  ...[
    "\u000f",
    "\u0010",
    "\u0012",
    "\u0015",
    "\u001b[13;2u",
    "\u001b[200~two\nlines\u001b[201~",
    "y",
    "n",
    "d",
    "r",
    "w",
  ],
];

/** What terminals measure differently, and what has no place to break. */
const TEXTS = [
  "構文解析器を変更して、テストを実行する。全角の文字は二桁を占める。",
  "👩‍👩‍👧‍👦 family 👍🏽 🏳️‍🌈 flag 🇩🇪🇯🇵 ❤️ text",
  "שלום עולם مرحبا بالعالم mixed with Latin",
  "e\u0301a\u0308 n\u0303 Z\u0351\u036b\u0343\u0365\u0308 กำลัง हिन्दी",
  "a\tb\tc\n\tindented\twith tabs",
  "x".repeat(400),
  "漢".repeat(150),
  "| a | b |\n|---|---|\n| 構文 | 👩‍👩‍👧‍👦 |\n\n",
  '```ts\nconst 名前 = "👍🏽"; // comment\n```\n\n',
  "zero\u200bwidth\u2060joiner\u00ad soft \u202eoverride\u202c",
];
const turn = "turn_1";
const asked = {
  ...{ turn, name: "fs.write", label: "Write", summary: "", reason: "no rule", before: "a\nb\n" },
  args: { path: "a.txt", content: "a\nc\n" },
};

/** Judges what bytes look like. */
export interface StormTerminal {
  resize(columns: number, rows: number): void | Promise<void>;
  write(bytes: string): void;
  /** What is on the screen, down to the last row that has something. */
  rows(): Promise<readonly string[]>;
  /** The same of a terminal of this size that only gets these bytes. */
  fresh(bytes: string, size: Size): Promise<readonly string[]>;
  close(): void;
}

export async function stormInterface(
  steps: number,
  seed: number,
  terminal: StormTerminal = headlessTerminal(),
): Promise<StormReport> {
  const random = createSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item; // never empty
  const stop = new AbortController();
  let size = { columns: 80, rows: 24 };
  terminal.write(WRAP_OFF);
  let nowMs = 0;
  let isFull = false;
  const screen: InterfaceParts["screen"] = {
    size: () => size,
    write(bytes) {
      terminal.write(bytes);
      return true;
    },
    onDrain: () => undefined,
    useFull(isOn) {
      isFull = isOn;
      terminal.write(isOn ? "\u001b[?1049h" : "\u001b[?1049l");
    },
    begin: () => () => undefined,
    suspend: () => undefined,
    pause: () => () => undefined,
  };
  const clock = { now: () => nowMs, monotonicMs: () => nowMs, uptimeMs: () => nowMs, sleep: async () => undefined };
  const session = {
    id: "sess_01GOLDEN",
    submit: async ({ kind }: { kind: string }) => {
      if (kind === "DescribeSession") throw new Error("the storm has no facts");
      return {};
    },
    cancel: async () => undefined,
    log: async function* () {},
  } as unknown as ClientSession; // what keys reach
  const parts: InterfaceParts = { ...interfaceParts("dark", session), screen, clock };
  const painter = createPainter({
    ...{ screen, clock, signal: stop.signal },
    widthOf: (row) => running.widthOf(row),
    frame: () => running.frame(),
  });
  const state = initialState(session.id, { model: "m", theme: "dark", size, nowMs });
  const running = createRunning({ parts, painter, signal: stop.signal, end: () => undefined, state });
  const differences: string[] = [];
  let compared = 0;
  let id = 0;
  const events: readonly (() => readonly [string, unknown])[] = [
    () => ["TurnStarted", { turn, content: [{ type: "text", text: "go 構文 🚀" }], model: "m" }],
    () => [
      "TextDelta",
      { turn, step: id, block: 0, text: "A **word** and `code` with 構文 that is long enough to wrap.\n\n" },
    ],
    () => ["TextDelta", { turn, step: id, block: 0, text: pick(TEXTS) }],
    () => ["TextDelta", { turn, step: id - 1, block: 0, text: `${pick(TEXTS)}\n\n` }],
    () => ["ThinkingDelta", { turn, step: id, block: 1, text: pick(TEXTS) }],
    () => [
      "ToolCallStarted",
      { turn, step: 1, block: 0, call_id: `c${id}`, name: "exec", label: "Bash", args: { command: pick(TEXTS) } },
    ],
    () => ["ToolCallProgress", { turn, call_id: `c${id - 1}`, text: `${pick(TEXTS)}\na line of output\n` }],
    () => ["PermissionRequested", { ...asked, call_id: `c${id}` }],
    () => ["PermissionAnswered", { turn, call_id: `c${id - 3}`, decision: "deny", by: "x" }],
    () => ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 1, output_tokens: 1 }, steps: 1 }],
  ];
  for (let step = 0; step < steps; step++) {
    nowMs += Math.floor(random() * 700);
    const kind = random();
    if (kind < 0.25) {
      const next = nextSize(random);
      await terminal.resize(next.columns, next.rows);
      // A frame that was on its way arrives on a terminal that has changed.
      if (random() < 0.3) {
        running.bytes(pick(KEYS));
        painter.now();
      }
      size = next;
      running.dispatch({ type: "resize", size });
      painter.again();
    } else if (kind < 0.6) {
      id += 1;
      const [name, payload] = pick(events)();
      running.dispatch({ type: "event", event: sceneEvent(id, name, payload), agoMs: 0 });
    } else running.bytes(pick(KEYS));
    await setImmediate();
    painter.now();
    compared += 1;
    const frame = running.frame();
    const bytes =
      "full" in frame
        ? paintFullScreen(undefined, frame.full, size).bytes
        : paintFrame(nothingDisplayed, [], frame.region, size).bytes;
    const [shown, fresh] = [await terminal.rows(), await terminal.fresh(`${WRAP_OFF}${bytes}`, size)];
    const rows = Math.min(fresh.length, size.rows);
    const [a, b] = [shown.slice(-rows).join("\n"), fresh.slice(-rows).join("\n")];
    if (a !== b) differences.push(`step ${step}, ${size.columns}x${size.rows}:\n${a}\n-- but fresh:\n${b}`);
  }
  running.close();
  painter.now();
  painter.leave();
  await terminal.rows();
  stop.abort();
  terminal.close();
  return { compared, differences, restored: !isFull };
}

/** Also those in which nearly nothing fits. */
function nextSize(random: () => number): { columns: number; rows: number } {
  const isTiny = random() < 0.2;
  const columns = isTiny ? 1 + Math.floor(random() * 12) : 12 + Math.floor(random() * 140);
  return { columns, rows: 2 + Math.floor(random() * (isTiny ? 4 : 50)) };
}

function headlessTerminal(): StormTerminal {
  const terminal = openTerminal(80, 24);
  return {
    resize: (columns, rows) => terminal.resize(columns, rows),
    write: (bytes) => terminal.write(bytes),
    rows: () => bottomOf(terminal),
    async fresh(bytes, { columns, rows }) {
      const other = openTerminal(columns, rows);
      other.write(bytes);
      const shown = await bottomOf(other);
      other.dispose();
      return shown;
    },
    close: () => terminal.dispose(),
  };
}

function openTerminal(cols: number, rows: number): headless.Terminal {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 5_000, allowProposedApi: true });
  useGraphemes(terminal);
  return terminal;
}

async function bottomOf(terminal: headless.Terminal): Promise<readonly string[]> {
  await new Promise<void>((done) => terminal.write("", done));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
  return rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1);
}
