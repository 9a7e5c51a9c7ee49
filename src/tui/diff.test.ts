/** `/diff`: what a session changed, hunk by hunk through all files, and what becomes of those that are to be taken back. */
import { expect, test } from "vitest";
import type { ClientSession } from "#client";
import { expectGolden, playScene, type Scene } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { takeBackText } from "./take-back-text.ts";

const before = "import { a } from 'a';\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const after = "import { a } from 'a';\none\n2\nthree\nfour\nfive\nsix\nseven\neight\n9 \u202e構文\n";
const files = [
  { path: "assets/logo.png", what: "changed", why: "it is not text" },
  { path: "src/new.ts", what: "added", after: "export function added(): string {\n  return 'new';\n}\n" },
  { path: "src/parse.ts", what: "changed", before, after },
];
const listed = files.map(({ path, what }) => ({ path, what }));
const unknown = [{ path: "node_modules", why: "it is ignored" }];

function scene(keys: readonly string[], asked: object[] = []): Scene {
  const submit = async (command: { kind: string; path?: string; turn?: string }) => {
    if (command.kind !== "DescribeChanges") return { result: undefined };
    asked.push(command);
    const file = files.find(({ path }) => path === command.path);
    const changes = command.turn === undefined ? listed : [];
    return { result: { changes, more: 0, unknown, interrupted: [], ...(file !== undefined && { file }) } };
  };
  return {
    events: [["TurnStarted", { turn: "turn_7", content: [{ type: "text", text: "change it" }], model: "m" }]],
    session: { submit: submit as unknown as ClientSession["submit"] },
    keys: ["/", "d", "i", "f", "f", KEYS.enter, ...keys],
  };
}

test("the first file says why it is not shown", () => expectGolden("diff-no-text", scene([])));

test("a new file stands whole", () => expectGolden("diff-new-file", scene(["n"])));

test("hunks of the next file, one of them to be taken back", () => expectGolden("diff", scene(["n", "n", "d"])));

test("the last turn has changed nothing", () => expectGolden("diff-last-turn", scene(["t"])));

test("each file is read once, when it is looked at", async () => {
  const asked: object[] = [];
  await playScene(scene(["n", "n", "n", "p", "p", "p", KEYS.tab, KEYS.tab, "t"], asked));
  expect(asked).toEqual([
    { kind: "DescribeChanges" },
    ...files.map(({ path }) => ({ kind: "DescribeChanges", path })),
    { kind: "DescribeChanges", turn: "turn_7" },
  ]);
});

test("what is to be taken back becomes an input that nobody has sent", async () => {
  const shown = await playScene(scene(["n", "n", "a", "d", KEYS.enter]));
  expect(shown).toContain("Take these changes back");
  expect(shown).toContain("src/parse.ts, from line 10:");
});

test("a long hunk is named, not repeated", () => {
  const lines = Array.from({ length: 100 }, (_, at) => ({ mark: "+" as const, text: `line ${at}` }));
  const change = { path: "a.txt", lines, hunks: [], isNew: true, isPiece: false };
  const text = takeBackText([{ change, hunk: { from: 0, to: 100 } }]);
  expect(text).toContain("a.txt, from line 1:\n```diff\n+line 0\n");
  expect(text.split("\n")).toHaveLength(45);
  expect(text).toContain("… 60 more lines");
});
