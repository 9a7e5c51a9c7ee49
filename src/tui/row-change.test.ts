import headless, { type Terminal } from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rowChange } from "./row-change.ts";

const on = fc.constantFrom(
  "\u001b[1m",
  "\u001b[22m",
  "\u001b[2m",
  "\u001b[1;36m",
  "\u001b[38;5;180m",
  "\u001b[0m",
  "\u001b[3m",
  "\u001b[23m",
);
const piece = fc.oneof(on, fc.constantFrom("a", "bc", "  ", "漢", "é", "e\u0301", "\u0308", "👍🏽", "\u200d", "שׁ"));
const row = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
const styled = row.map((text) => (text.includes("\u001b") ? `${text}\u001b[0m` : text));

const write = (terminal: Terminal, bytes: string): Promise<void> =>
  new Promise((resolve) => terminal.write(bytes, resolve));

function cells(terminal: Terminal): string[] {
  const line = terminal.buffer.active.getLine(0);
  return Array.from({ length: terminal.cols }, (_, x) => {
    const cell = line?.getCell(x);
    const text = cell?.getChars() || " ";
    return `${text}|${cell?.isBold()}|${cell?.isDim()}|${cell?.isItalic()}|${cell?.getFgColor()}`;
  });
}

test("a row that was changed is the row written at once, in text and styles, whatever stood there", async () => {
  await fc.assert(
    fc.asyncProperty(styled, fc.boolean(), styled, async (old, isLonger, other) => {
      const text = isLonger ? (old.endsWith("\u001b[0m") ? old.slice(0, -4) : old) + other : other;
      const [changed, fresh] = [0, 1].map(() => new headless.Terminal({ cols: 60, rows: 2, allowProposedApi: true }));
      if (changed === undefined || fresh === undefined) throw new Error("no terminals");
      await write(changed, `${old}\u001b[0m${rowChange(old, text)}`);
      await write(fresh, text);
      expect(cells(changed)).toEqual(cells(fresh));
    }),
    { numRuns: 150 },
  );
});
