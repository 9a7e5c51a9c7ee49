/** Random sizes, keys and events on the interface, with a seed; what is on the screen is compared with a fresh render of the state. */
import { setImmediate } from "node:timers/promises";
import headless from "@xterm/headless";
import { createSeededRandom } from "../../bench/seeded-random.ts";
import type { ClientSession } from "../../src/client/index.ts";
import type { InterfaceParts } from "../../src/tui/interface.ts";
import { createPainter } from "../../src/tui/painter.ts";
import { createRunning } from "../../src/tui/running.ts";
import { nothingDisplayed, paintFrame } from "../../src/tui/screen-writer.ts";
import { initialState } from "../../src/tui/state.ts";
import { sceneEvent } from "./golden-screens.ts";
import { useGraphemes } from "./graphemes.ts";
import { interfaceParts } from "./interface-parts.ts";

export interface StormReport {
  readonly compared: number;
  readonly differences: readonly string[];
  readonly restored: boolean;
}

const KEYS = [
  ..."aZ/?!構🚀é ",
  ...["\r", "\u001b", "\u001b[A", "\u001b[B", "\u001b[5~", "\u001b[6~", "\u001b[H", "\u001b[F", "\t", "\u007f"],
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

const turn = "turn_1";
const asked = {
  ...{ turn, name: "fs.write", label: "Write", summary: "", reason: "no rule", before: "a\nb\n" },
  args: { path: "a.txt", content: "a\nc\n" },
};

export async function stormInterface(steps: number, seed: number): Promise<StormReport> {
  const random = createSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item; // never empty
  const terminal = openTerminal(80, 24);
  const stop = new AbortController();
  let size = { columns: 80, rows: 24 };
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
    submit: async () => ({}),
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
    () => [
      "ToolCallStarted",
      { turn, step: 1, block: 0, call_id: `c${id}`, name: "exec", label: "Bash", args: { command: "ls" } },
    ],
    () => ["ToolCallProgress", { turn, call_id: `c${id - 1}`, text: "a line of output\n" }],
    () => ["PermissionRequested", { ...asked, call_id: `c${id}` }],
    () => ["PermissionAnswered", { turn, call_id: `c${id - 3}`, decision: "deny", by: "x" }],
    () => ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 1, output_tokens: 1 }, steps: 1 }],
  ];
  for (let step = 0; step < steps; step++) {
    nowMs += Math.floor(random() * 700);
    const kind = random();
    if (kind < 0.25) {
      size = { columns: 12 + Math.floor(random() * 140), rows: 3 + Math.floor(random() * 50) };
      terminal.resize(size.columns, size.rows);
      running.dispatch({ type: "resize", size });
      painter.again();
    } else if (kind < 0.6) {
      id += 1;
      const [name, payload] = pick(events)();
      running.dispatch({ type: "event", event: sceneEvent(id, name, payload), agoMs: 0 });
    } else running.bytes(pick(KEYS));
    await setImmediate();
    painter.now();
    if (isFull) continue;
    compared += 1;
    const [shown, fresh] = [await bottomOf(terminal), await freshBottom(running.frame(), size)];
    const rows = Math.min(fresh.length, size.rows);
    const [a, b] = [shown.slice(-rows).join("\n"), fresh.slice(-rows).join("\n")];
    if (a !== b) differences.push(`step ${step}, ${size.columns}x${size.rows}:\n${a}\n-- but fresh:\n${b}`);
  }
  running.close();
  painter.now();
  painter.leave();
  await written(terminal);
  stop.abort();
  return { compared, differences, restored: !isFull && terminal.buffer.active.type === "normal" };
}

function openTerminal(cols: number, rows: number): headless.Terminal {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 5_000, allowProposedApi: true });
  useGraphemes(terminal);
  return terminal;
}

async function freshBottom(
  frame: ReturnType<ReturnType<typeof createRunning>["frame"]>,
  size: { columns: number; rows: number },
) {
  if ("full" in frame) throw new Error("the alternate screen was left");
  const terminal = openTerminal(size.columns, size.rows);
  terminal.write(paintFrame(nothingDisplayed, [], frame.region, size).bytes);
  const rows = await bottomOf(terminal);
  terminal.dispose();
  return rows;
}

/** The rows down to the last one that has something. */
async function bottomOf(terminal: headless.Terminal): Promise<readonly string[]> {
  await written(terminal);
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
  return rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1);
}

function written(terminal: headless.Terminal): Promise<void> {
  return new Promise((done) => terminal.write("", done));
}
