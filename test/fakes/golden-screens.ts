/**
 * Screens of the interface as committed text: what a scene shows in three sizes and two themes, with the styles of each row. A scene is
 * events, messages and keys; nothing in it depends on the time or the machine. `vitest -u` writes the files anew.
 */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import headless, { type IBufferCell, type Terminal } from "@xterm/headless";
import { expect } from "vitest";
import type { ClientSession, Event } from "#client";
import type { InterfaceParts } from "../../src/tui/interface.ts";
import { createPainter } from "../../src/tui/painter.ts";
import { createRunning } from "../../src/tui/running.ts";
import { initialState, type Message } from "../../src/tui/state.ts";
import type { ThemeName } from "../../src/tui/theme.ts";
import { useGraphemes } from "./graphemes.ts";
import { interfaceParts, SESSION_ID } from "./interface-parts.ts";

const SIZES = [
  [80, 24],
  [120, 40],
  [40, 20],
] as const;
const THEMES = ["dark", "light"] as const satisfies readonly ThemeName[];
const FOLDER = join(import.meta.dirname, "../golden/tui");
const SENT_AT = "2026-01-01T00:00:00.000Z";

export interface Scene {
  /** Kinds and payloads, in order; the ids follow. */
  readonly events?: readonly (readonly [kind: string, payload: unknown])[];
  readonly messages?: readonly Message[];
  /** As a terminal sends them, after the events. */
  readonly keys?: readonly string[];
  /** What the session answers to commands, by their kinds. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** Other methods of the session. */
  readonly session?: Partial<ClientSession>;
  /** What layers load, and anything else that the scene needs. */
  readonly parts?: Partial<InterfaceParts>;
  /** Time since the last event: keys right after a question do not count. */
  readonly laterMs?: number;
}

/** Compares with `test/golden/tui/NAME.txt`. */
export async function expectGolden(name: string, scene: Scene): Promise<void> {
  const screens: string[] = [];
  for (const [columns, rows] of SIZES) {
    for (const theme of THEMES) {
      const shown = await screenOf(scene, { columns, rows }, theme);
      screens.push(`== ${columns}x${rows} ${theme}\n${shown}\n`);
    }
  }
  await expect(screens.join("\n")).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
}

/** Plays a scene once, for what it does. */
export async function playScene(scene: Scene): Promise<string> {
  return screenOf(scene, { columns: 80, rows: 24 }, "none");
}

/** An event of the session of the scenes. */
export function sceneEvent(id: number, kind: string, payload: unknown): Event {
  return { id, kind, payload, session: SESSION_ID, ts: SENT_AT } as unknown as Event; // only what the interface reads
}

async function screenOf(scene: Scene, size: { columns: number; rows: number }, theme: ThemeName): Promise<string> {
  const terminal = new headless.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true });
  useGraphemes(terminal);
  const stop = new AbortController();
  let nowMs = 0;
  const screen: InterfaceParts["screen"] = {
    size: () => size,
    write(bytes) {
      terminal.write(bytes);
      return true;
    },
    onDrain: () => undefined,
    useFull: (isOn) => terminal.write(isOn ? "\u001b[?1049h" : "\u001b[?1049l"),
    begin: () => () => undefined,
    suspend: () => undefined,
    pause: () => () => undefined,
  };
  const clock = {
    now: () => Date.parse(SENT_AT) + nowMs,
    monotonicMs: () => nowMs,
    uptimeMs: () => nowMs,
    sleep: async () => undefined,
  };
  const parts = { ...interfaceParts(theme, sceneSession(scene)), screen, clock, ...scene.parts };
  const painter = createPainter({
    screen,
    clock,
    signal: stop.signal,
    widthOf: (row) => row.length,
    frame: () => running.frame(),
  });
  const state = initialState(parts.session.id, { model: parts.model, theme, size, nowMs });
  const running = createRunning({ parts, painter, signal: stop.signal, end: () => undefined, state });
  running.dispatch({ type: "caught-up" });
  await settled();
  for (const [at, [kind, payload]] of (scene.events ?? []).entries()) {
    running.dispatch({ type: "event", event: sceneEvent(at + 1, kind, payload), agoMs: 0 });
  }
  nowMs += scene.laterMs ?? 1_000;
  for (const message of scene.messages ?? []) running.dispatch(message);
  for (const key of scene.keys ?? []) {
    running.bytes(key);
    await settled();
  }
  painter.now();
  await new Promise<void>((written) => terminal.write("", written));
  const shown = printed(terminal);
  // What is open stays open for the picture, and goes with the terminal.
  stop.abort();
  running.close();
  return shown;
}

function sceneSession({ answers = {}, session = {} }: Scene): ClientSession {
  const answer: Submit = async ({ kind }) => ({ result: answers[kind] });
  const own = (session.submit as Submit | undefined) ?? answer;
  const submit: Submit = async (command) => {
    const reply = await own(command);
    if (command.kind === "DescribeSession" && reply.result === undefined) throw new Error("the scene has no facts");
    return reply;
  };
  return { id: SESSION_ID, ...session, submit } as unknown as ClientSession; // only what the interface calls
}

type Submit = (command: { readonly kind: string }) => Promise<{ readonly result?: unknown }>;

/** What was asked for has come; all of it is at hand. */
async function settled(): Promise<void> {
  for (let round = 0; round < 4; round++) await setImmediate();
}

/** The rows with a bar at their end, then the styles of those that have any. */
function printed(terminal: Terminal): string {
  const { active } = terminal.buffer;
  const rows: string[] = [];
  const styles: string[] = [];
  for (let y = 0; y < terminal.rows; y++) {
    const line = active.getLine(active.baseY + y);
    rows.push(`${line?.translateToString(true) ?? ""}`);
    const runs: { style: string; from: number; to: number }[] = [];
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line?.getCell(x);
      const style = cell === undefined || cell.getChars().trim() === "" ? "" : styleOf(cell);
      const last = runs.at(-1);
      if (style === "") continue;
      if (last?.style === style && last.to >= x - 2) last.to = x;
      else runs.push({ style, from: x, to: x });
    }
    if (runs.length > 0) {
      styles.push(`${y + 1}: ${runs.map(({ style, from, to }) => `${from + 1}-${to + 1} ${style}`).join(", ")}`);
    }
  }
  const cursor = `cursor ${active.cursorY + 1}:${active.cursorX + 1}`;
  return [...rows, "--", cursor, ...styles].map((row) => row.trimEnd()).join("\n");
}

function styleOf(cell: IBufferCell): string {
  const parts = [
    cell.isBold() ? "bold" : "",
    cell.isDim() ? "dim" : "",
    cell.isItalic() ? "italic" : "",
    cell.isUnderline() ? "underline" : "",
    cell.isInverse() ? "inverse" : "",
    cell.isFgDefault() ? "" : `fg${cell.getFgColor()}`,
    cell.isBgDefault() ? "" : `bg${cell.getBgColor()}`,
  ];
  return parts.filter((part) => part !== "").join("+");
}
