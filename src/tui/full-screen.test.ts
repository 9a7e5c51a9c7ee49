import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type FullDisplayed, paintFullScreen } from "./full-screen.ts";

const row = fc.constantFrom(
  "",
  "a",
  "same text",
  "same tent",
  "\u001b[31mred\u001b[0m",
  "漢字 x",
  "a row of twenty cells",
);
const size = fc.constantFrom({ columns: 21, rows: 6 }, { columns: 30, rows: 4 });
const bare = (text: string): string => text.replaceAll("\u001b[31m", "").replaceAll("\u001b[0m", "");

test("a screen that gets the differences shows the last frame, after any change of size", async () => {
  const frames = fc.array(fc.tuple(fc.array(row, { maxLength: 6 }), size), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(frames, async (steps) => {
      const terminal = new headless.Terminal({ cols: 21, rows: 6, allowProposedApi: true });
      let shown: FullDisplayed | undefined;
      for (const [rows, at] of steps) {
        terminal.resize(at.columns, at.rows);
        const painted = paintFullScreen(shown, { rows }, at);
        shown = painted.shown;
        await new Promise<void>((written) => terminal.write(painted.bytes, written));
        const { active } = terminal.buffer;
        const seen = Array.from({ length: at.rows }, (_, y) =>
          active.getLine(active.baseY + y)?.translateToString(true),
        );
        expect(seen).toEqual(Array.from({ length: at.rows }, (_, y) => bare(rows[y] ?? "")));
      }
    }),
    { numRuns: 40 },
  );
});

test("what is the same is not written again", () => {
  const at = { columns: 20, rows: 3 };
  const { shown } = paintFullScreen(undefined, { rows: ["one", "two"] }, at);
  const { bytes } = paintFullScreen(shown, { rows: ["one", "three"] }, at);
  expect(bytes).toContain("hree");
  expect(bytes).not.toContain("one");
});
