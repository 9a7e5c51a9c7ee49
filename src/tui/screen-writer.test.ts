import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eraseWrapped, type LiveRegion, leaveRegion, nothingDisplayed, paintFrame } from "./screen-writer.ts";

const SIZE = { columns: 20, rows: 8 };

function openTerminal(size = SIZE) {
  const terminal = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 10_000,
    allowProposedApi: true,
  });
  return {
    terminal,
    write: (bytes: string): Promise<void> => new Promise((resolve) => terminal.write(bytes, resolve)),
    /** Everything that was ever printed, without blank rows at the end. */
    text(): string[] {
      const { active } = terminal.buffer;
      const rows = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
      return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
    },
    cursor: () => ({
      row: terminal.buffer.active.baseY + terminal.buffer.active.cursorY,
      column: terminal.buffer.active.cursorX,
    }),
  };
}

const row = fc.constantFrom(
  "a",
  "bb",
  "same text",
  "same tent",
  "\u001b[31mred\u001b[0m",
  "漢字 x",
  "plain, and longer row",
);
const bare = (text: string): string =>
  text.replaceAll("\u001b[31m", "").replaceAll("\u001b[0m", "").slice(0, SIZE.columns);
const clipped = row.map((text) => (text.startsWith("\u001b") ? text : text.slice(0, SIZE.columns)));
const frame = fc.record({
  settled: fc.array(clipped, { maxLength: 3 }),
  live: fc.array(clipped, { maxLength: 4 }),
  footer: fc.array(clipped, { minLength: 1, maxLength: 2 }),
});

test("a terminal that gets the differences shows what one shows that was written at once, scrollback included", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 25 }), async (frames) => {
      const { write, text, cursor } = openTerminal();
      let shown = nothingDisplayed;
      const printed: string[] = [];
      for (const { settled, live, footer } of frames) {
        const rows = [...live, ...footer];
        const region: LiveRegion = { rows, cursor: { row: live.length, column: 1 } };
        const painted = paintFrame(shown, settled, region, SIZE);
        await write(painted.bytes);
        shown = painted.shown;
        printed.push(...settled);
        expect(text()).toEqual([...printed, ...rows].map(bare));
        expect(cursor()).toEqual({ row: printed.length + live.length, column: 1 });
      }
    }),
    { numRuns: 60 },
  );
});

test("rows at the end that stay the same are moved, not written again", () => {
  const footer = ["the editor", "the status line"];
  const first = paintFrame(nothingDisplayed, [], { rows: ["one", ...footer] }, SIZE);
  const { bytes } = paintFrame(first.shown, [], { rows: ["one", "two", ...footer] }, SIZE);
  expect(bytes).toContain("two");
  expect(bytes).not.toContain("editor");
});

test("the screen and the scrollback are never cleared, and what is on the screen is not sent twice", () => {
  const first = paintFrame(nothingDisplayed, ["settled"], { rows: ["live"] }, SIZE);
  expect(first.bytes).not.toContain("\u001b[2J");
  expect(first.bytes).not.toContain("\u001b[3J");
  expect(paintFrame(first.shown, [], { rows: ["live"] }, SIZE).bytes).toBe("");
});

test("after a change of width the region is painted again, and what was settled stays", async () => {
  const { terminal, write, text } = openTerminal();
  const wide = { rows: ["a row that is twenty", "x"], cursor: { row: 1, column: 0 } };
  const first = paintFrame(nothingDisplayed, ["settled"], wide, SIZE);
  await write(first.bytes);
  terminal.resize(10, 8);
  const narrow = { rows: ["narrow", "y"], cursor: { row: 1, column: 0 } };
  const size = { columns: 10, rows: 8 };
  const erased = eraseWrapped(first.shown, size, (one) => one.length);
  await write(erased + paintFrame(nothingDisplayed, [], narrow, size).bytes);
  expect(text()).toEqual(["settled", "narrow", "y"]);
});

test("whoever leaves finds the cursor below the region", async () => {
  const { write, text } = openTerminal();
  const first = paintFrame(
    nothingDisplayed,
    ["settled"],
    { rows: ["one", "two"], cursor: { row: 0, column: 0 } },
    SIZE,
  );
  await write(`${first.bytes}${leaveRegion(first.shown)}$`);
  expect(text()).toEqual(["settled", "one", "two", "$"]);
});
