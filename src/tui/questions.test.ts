/** Questions as a person sees and answers them: what would run, why, the rule that each answer makes, forms, codes, reviews. */
import { expect, test } from "vitest";
import { expectGolden, playScene, type Scene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { createKeymap } from "./key-table.ts";
import { layerKeyRows } from "./layer.ts";
import { layers } from "./layers.ts";
import { initialState, type State, update } from "./state.ts";
import { widgets } from "./widgets.ts";

const turn = "turn_1";
const shell = {
  turn,
  call_id: "call_1",
  name: "exec",
  label: "Bash",
  args: { command: "npm test -- --run\u202e && echo \u0007done" },
  summary: "npm test",
  reason: "no rule matches `npm test`",
  scope: "folder:packages/a",
  argv_glob: "Bash(npm test *)",
  tool_rule: "exec",
  confinement: "workspace",
  confinement_text: "Runs in the sandbox: can write to this workspace except steering files, no network.",
};
const write = {
  ...shell,
  call_id: "call_2",
  name: "fs.write",
  label: "Write",
  args: { path: "src/a.ts", content: "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n9\n" },
  before: "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
  scope: "path:src/a.ts",
  argv_glob: "Write(src/a.ts)",
  tool_rule: "fs.write",
  confinement: undefined,
  confinement_text: undefined,
  delegate: { agent: "tester", depth: 1 },
};
const form = {
  turn,
  call_id: "call_3",
  question: "Where shall it go?",
  server: "tickets",
  form: [
    { name: "project", type: "choice", required: true, options: [{ value: "core", title: "Core" }, { value: "web" }] },
    { name: "weight", type: "integer", required: false, min: 1, max: 5, default: 2 },
  ],
};
const asks: Scene["events"] = [["PermissionRequested", shell]];

test("a command that is asked about, with hidden characters and a second question behind it", () =>
  expectGolden("question-command", { events: [...asks, ["PermissionRequested", write]] }));

test("a change that is asked about by a delegate", () =>
  expectGolden("question-change", { events: [["PermissionRequested", write]] }));

test("the reason for a no", () => expectGolden("question-why-not", { events: asks, keys: ["w", "use pnpm"] }));

test("a question of the model", () =>
  expectGolden("question-free", {
    events: [
      ["QuestionAsked", { turn, call_id: "call_4", question: "Which one?", options: ["the first", "the second"] }],
    ],
    keys: ["2"],
  }));

test("a new file says when it does not end with a newline, and its last newline is not a line", async () => {
  const shown = async (content: string) => {
    const asked = { ...write, args: { path: "a", content }, before: undefined };
    return await playScene({ events: [["PermissionRequested", asked]] });
  };
  expect(await shown("one\ntwo\n")).toMatch(/\+ one\n {2}│ \+ two\n {2}why/);
  expect(await shown("one\ntwo")).toMatch(/\+ two\n {2}│ \\ no newline at the end\n {2}why/);
});

test("details of the question", () => expectGolden("question-details", { events: asks, keys: ["d"] }));

test("a review in which the first hunk is accepted", () =>
  expectGolden("review", { events: [["PermissionRequested", write]], keys: ["r", "a"] }));

test("the review of a new file, with all lines", () =>
  expectGolden("review-new-file", {
    events: [["PermissionRequested", { ...write, before: undefined }]],
    keys: ["r", "v"],
  }));

test("a form, at its second field", () =>
  expectGolden("question-form", { events: [["QuestionAsked", form]], keys: ["1", KEYS.enter] }));

test("the code of a token", () =>
  expectGolden("question-token", {
    events: [
      [
        "TokenRequested",
        {
          token: "tok_1",
          code: "123456",
          commands: ["SendInput", "CancelTurn"],
          identity_class: "agent",
          can_mint: false,
          expires_at: "2026-01-02T00:00:00.000Z",
          confirm_by: "2026-01-01T00:05:00.000Z",
        },
      ],
    ],
  }));

const keymap = createKeymap(layerKeyRows(layers));

function answersTo(event: readonly [kind: string, payload: unknown], ...keys: readonly string[]) {
  const context = (nowMs: number) => ({ nowMs, widgets, keymap, layers });
  let state: State = initialState("sess_01GOLDEN" as never, {
    ...{ model: "m", size: { columns: 80, rows: 24 }, nowMs: 0, theme: "none" },
  });
  const typed = { text: "", isOffering: false };
  ({ state } = update(state, { type: "event", event: sceneEvent(1, ...event), agoMs: 0 }, context(0)));
  const effects = keys.flatMap((key) => {
    const step = update(state, { type: "key", key, sequence: key, typed }, context(5_000));
    ({ state } = step);
    return step.effects;
  });
  return { effects, state };
}

const answer = { type: "answer", session: "sess_01GOLDEN" };

test.each([
  [["y"], { decision: "allow_once" }],
  [["s"], { decision: "allow_argv_glob" }],
  [["t"], { decision: "allow_tool" }],
  [["n"], { decision: "deny" }],
])("%j answers with %j", (keys, wanted) => {
  expect(answersTo(["PermissionRequested", shell], ...keys).effects).toEqual([{ ...answer, id: "call_1", ...wanted }]);
});

test("the hunks that were accepted become the call; the others stay as the file is", () => {
  const content = "one\n2\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
  const { effects, state } = answersTo(["PermissionRequested", write], "r", "a", "d", "enter");
  expect(effects).toEqual([{ ...answer, id: "call_2", decision: "allow_once", args: { path: "src/a.ts", content } }]);
  expect(state.layers).toEqual([]);
});

test("all hunks are the call as it was, none is a no, and an open one is no answer yet", () => {
  const review = (...keys: readonly string[]) =>
    answersTo(["PermissionRequested", write], "r", ...keys, "enter").effects;
  expect(review("a", "a")).toEqual([{ ...answer, id: "call_2", decision: "allow_once" }]);
  expect(review("d", "d")).toMatchObject([{ decision: "deny", reason: expect.stringContaining("rejected all") }]);
  expect(review("a")).toEqual([]);
});

test("saving gives the change as a patch", () => {
  const { effects } = answersTo(["PermissionRequested", write], "r", "s");
  expect(effects).toMatchObject([{ type: "save", name: "src/a.ts", text: expect.stringContaining("-two\n+2\n") }]);
});

test("an answer from somewhere else closes the review", () => {
  const { state } = answersTo(["PermissionRequested", write], "r");
  const event = sceneEvent(2, "PermissionAnswered", { turn, call_id: "call_2", decision: "deny", by: "other" });
  const next = update(state, { type: "event", event, agoMs: 0 }, { nowMs: 6_000, widgets, keymap, layers });
  expect(next.state.layers).toEqual([]);
});
