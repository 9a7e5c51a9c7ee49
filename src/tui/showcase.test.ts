/** The screen that the README shows: a turn with calls that rules and people allowed, and the question before an edit. */
import { test } from "vitest";
import { expectGolden, type Scene } from "../../test/fakes/golden-screens.ts";

const turn = "turn_1";
const started = (call_id: string, name: string, label: string, args: unknown) =>
  ["ToolCallStarted", { turn, step: 1, block: 0, call_id, name, label, args }] as const;
const allowedBy = (call_id: string, by: string, name: string) =>
  [
    "ToolIntent",
    { turn, step: 1, call_id, allowed_by: { by, trail: [{ stage: "rule", name, source: "", effect: "allow" }] } },
  ] as const;
const result = (call_id: string, text: string, isError: boolean, duration_ms: number) =>
  [
    "ToolResult",
    {
      ...{ turn, step: 1, call_id, content: [{ type: "text", text }], duration_ms },
      ...{ is_error: isError, outcome: isError ? "error" : "ok" },
    },
  ] as const;
const edit = { path: "src/list.ts", old_text: "  return items.slice(1);", new_text: "  return items;" };
const model = "anthropic:claude-sonnet-5-5";
const facts = {
  ...{ branch: "fix-list", mode: "ask", sandbox: "auto", context_tokens: 200_000 },
  ...{ queued: [], todos: [], models: [], servers: [], hooks: [], jobs: [] },
};
const usage = { input_tokens: 9_000, output_tokens: 400, cache_read_tokens: 0, cache_write_tokens: 0 };
const file = `export function list(text: string): string[] {\n  const items = text.split(",");\n${edit.old_text}\n}\n`;

const numbered = file.replaceAll(/^(?=.)/gm, "     1\t");

const events: Scene["events"] = [
  ["TurnStarted", { turn, content: [{ type: "text", text: "npm test fails here. Find out why, and fix it." }], model }],
  [
    "TodosChanged",
    {
      turn,
      todos: [
        { text: "see the test fail", state: "done" },
        { text: "fix list()", state: "active" },
      ],
    },
  ],
  ["CostIncremented", { turn, step: 1, provider: "anthropic", model, usage, cost_usd: 0.033 }],
  started("call_1", "exec", "Bash", { command: "npm test" }),
  allowedBy("call_1", "rule", "Bash(npm test)"),
  result("call_1", "not ok 2 - list keeps its first item\n1 of 2 tests failed", true, 1_240),
  started("call_2", "fs.read", "Read", { path: "src/list.ts" }),
  result("call_2", numbered, false, 3),
  ["TextDelta", { turn, step: 2, block: 0, text: "`slice(1)` drops the first item.\n" }],
  started("call_3", "fs.edit", "Edit", edit),
  [
    "PermissionRequested",
    {
      ...{ turn, call_id: "call_3", name: "fs.edit", label: "Edit", args: edit, before: file },
      ...{ summary: "src/list.ts", reason: "no rule matches Edit(src/list.ts)", scope: "path:src/list.ts" },
      ...{ argv_glob: "Edit(src/list.ts)", tool_rule: "fs.edit" },
    },
  ],
];

test("a turn, and the question before an edit", () =>
  expectGolden("showcase", { events, answers: { DescribeSession: facts }, parts: { model } }));
