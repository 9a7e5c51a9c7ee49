/** The mouse in the transcript, from the bytes of the terminal on. */
import { expect, test } from "vitest";
import { playScene, type Scene } from "../../test/fakes/golden-screens.ts";
import { mouseEvent } from "./mouse.ts";

const CTRL_O = "\u000f";
const ESCAPE = "\u001b";
const turn = "turn_1";
const output = Array.from({ length: 60 }, (_, line) => `line ${line}`).join("\n");
const events: Scene["events"] = [
  ["TurnStarted", { turn, content: [{ type: "text", text: "question" }], model: "m" }],
  [
    "ToolCallStarted",
    { turn, step: 1, block: 1, call_id: "c", name: "exec", label: "Bash", args: { command: "make" } },
  ],
  [
    "ToolResult",
    {
      ...{ turn, step: 1, call_id: "c", is_error: false, outcome: "ok", duration_ms: 1 },
      content: [{ type: "text", text: output }],
    },
  ],
  ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 1, output_tokens: 1 }, steps: 1 }],
];
const at = (button: number, row: number, end = "M"): string => `${ESCAPE}[<${button};7;${row}${end}`;
/** On the screen of the transcript: its head, a blank row, the input, then the call. */
const CALL_ROW = 4;
const click = [at(0, CALL_ROW), at(0, CALL_ROW, "m")];
const wheel = (button: number, times: number): readonly string[] => Array<string>(times).fill(at(button, 10));

test("a click opens a row and another one closes it; a release and other buttons do nothing", async () => {
  expect(await playScene({ events, keys: [CTRL_O] })).not.toContain("line 0");
  expect(await playScene({ events, keys: [CTRL_O, ...click] })).toMatch(/▸ ✓ Bash make[\s\S]*line 0/);
  expect(await playScene({ events, keys: [CTRL_O, ...click, ...click, at(2, CALL_ROW)] })).not.toContain("line 0");
});

test("the wheel scrolls by three rows, also within a row that is taller than the screen", async () => {
  const keys = [CTRL_O, ...click];
  const down = await playScene({ events, keys: [...keys, ...wheel(65, 5)] });
  expect(down).toMatch(/^ +line 2\d$/m);
  expect(down).not.toMatch(/line 3$/m);
  const end = await playScene({ events, keys: [...keys, ...wheel(65, 40)] });
  expect(end).toMatch(/line 59[\s\S]*1 step/);
  expect(await playScene({ events, keys: [...keys, ...wheel(65, 40), ...wheel(64, 60)] })).toMatch(/› question/);
});

test("on the main screen nothing of the mouse is typed", async () => {
  expect(await playScene({ events, keys: [at(0, 3), ...wheel(64, 2)] })).not.toMatch(/[<;]\d/);
});

test("modifiers change nothing, and a drag is none of ours", () => {
  expect(mouseEvent(at(64 + 4, 9))).toEqual({ key: "wheelUp", row: 8, times: 3 });
  expect(mouseEvent(at(32, 9))).toBe(undefined);
});
