/** A terminal for the interface: its screen as text, keys and pastes as somebody types them, and another size. */
import headless from "@xterm/headless";
import { expect } from "vitest";
import type { ScreenPort } from "#tui";
import { useGraphemes } from "./graphemes.ts";

export interface ScreenTerminal {
  readonly port: ScreenPort;
  type(...keys: readonly string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Everything that was printed, scrollback included, without blank rows at the end. */
  text(): string;
  /** What is on the screen now. */
  screen(): string;
  /** Waits until it is there. */
  shows(text: string | RegExp): Promise<void>;
  /** All bytes so far. */
  written(): string;
  isTaken(): boolean;
}

export const KEYS = {
  enter: "\r",
  escape: "\u001b",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  altEnter: "\u001b\r",
  altUp: "\u001b[1;3A",
  ctrlG: "\u0007",
  ctrlP: "\u0010",
  ctrlR: "\u0012",
  ctrlS: "\u0013",
  ctrlU: "\u0015",
  shiftEnter: "\u001b[13;2u",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
};

export function openScreenTerminal(columns = 80, rows = 24): ScreenTerminal {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  useGraphemes(terminal);
  let listener: Parameters<ScreenPort["begin"]>[0] | undefined;
  let written = "";
  function text(): string {
    const { active } = terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }
  return {
    port: {
      size: () => ({ columns: terminal.cols, rows: terminal.rows }),
      write(bytes) {
        written += bytes;
        terminal.write(bytes);
        return true;
      },
      onDrain: () => undefined,
      begin(on) {
        listener = on;
        return () => {
          listener = undefined;
        };
      },
      useFull(isOn) {
        terminal.write(isOn ? "\u001b[?1049h" : "\u001b[?1049l");
      },
      suspend: () => listener?.resumed(),
      pause: () => () => listener?.resumed(),
    },
    type(...keys) {
      for (const key of keys) listener?.bytes(key);
    },
    paste: (pasted) => listener?.bytes(`\u001b[200~${pasted}\u001b[201~`),
    resize(width, height) {
      terminal.resize(width, height);
      listener?.resize();
    },
    text,
    screen() {
      const { active } = terminal.buffer;
      const rows = Array.from({ length: terminal.rows }, (_, at) => active.getLine(active.baseY + at));
      return rows
        .map((row) => row?.translateToString(true) ?? "")
        .join("\n")
        .trimEnd();
    },
    shows: (wanted) => expect.poll(text, { interval: 10 }).toMatch(wanted),
    written: () => written,
    isTaken: () => listener !== undefined,
  };
}
