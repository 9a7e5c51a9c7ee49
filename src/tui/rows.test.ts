/** Rows of tools and delegates as a person sees them: who allowed a call, what it changed, how long it took, what runs now. */
import { expect, test } from "vitest";
import { expectGolden, playScene, type Scene } from "../../test/fakes/golden-screens.ts";

const turn = "turn_1";
const start = (call_id: string, name: string, label: string, args: unknown) =>
  ["ToolCallStarted", { turn, step: 1, block: 0, call_id, name, label, args }] as const;
const intent = (call_id: string, allowed_by: unknown) =>
  ["ToolIntent", { turn, step: 1, call_id, allowed_by }] as const;
const result = (call_id: string, text: string, more: object = {}) =>
  [
    "ToolResult",
    {
      ...{
        turn,
        step: 1,
        call_id,
        content: [{ type: "text", text }],
        is_error: false,
        outcome: "ok",
        duration_ms: 412,
      },
      ...more,
    },
  ] as const;
const rule = { by: "rule", trail: [{ stage: "rule", name: "Bash(npm test *)", source: "config", effect: "allow" }] };

const events: Scene["events"] = [
  ["TurnStarted", { turn, content: [{ type: "text", text: "go" }], model: "m" }],
  ["ThinkingDelta", { turn, step: 1, block: 0, text: "Let me see." }],
  start("call_1", "fs.edit", "Edit", { path: "src/parse.ts", old_text: "a\nb", new_text: "a\nc\nd" }),
  intent("call_1", { by: "person", trail: [] }),
  result("call_1", "Edited src/parse.ts:\n     1\ta"),
  start("call_2", "exec", "Bash", { command: "npm test -- a long list of files that has no room on a narrow screen" }),
  intent("call_2", rule),
  result("call_2", "1\n2\n3\n4\n5\nFix it.", { is_error: true, outcome: "error", labels: ["untrusted"] }),
  start("call_3", "agent.run", "Task", { task: "look at the tests" }),
  [
    "DelegationStarted",
    { turn, call_id: "call_3", session: "sess_2", agent: "tester", task: "look at the tests", mode: "sync", depth: 1 },
  ],
  start("call_4", "exec", "Bash", { command: "make" }),
  ["ToolCallProgress", { turn, call_id: "call_4", text: "one\ntwo\nthree\nfour\nfive\nsix\n" }],
];

test("calls that are done, that failed and that run, a delegate and the thinking", () =>
  expectGolden("tool-rows", { events }));

test("a delegate that has ended, what is waited for, and the summary of the turn", () =>
  expectGolden("tool-rows-ended", {
    events: [
      ...events,
      result("call_4", "done"),
      [
        "DelegationEnded",
        {
          ...{ turn, call_id: "call_3", session: "sess_2", agent: "tester", mode: "sync", status: "ok" },
          ...{ steps: 3, tool_calls: 4, cost_usd: 0.012, duration_ms: 5_200 },
        },
      ],
      result("call_3", "all tests are there"),
      ["ToolOutcome", { turn, call_id: "call_1", effects: [{ port: "write", target: "src/parse.ts" }] }],
      [
        "TurnEnded",
        { turn, outcome: "answered", usage: { input_tokens: 900, output_tokens: 100 }, cost_usd: 0.0213, steps: 2 },
      ],
    ],
  }));

test("todos stay above the editor, the active one in sight", () =>
  expectGolden("todos", {
    events: [
      [
        "TodosChanged",
        {
          turn,
          todos: ["read", "plan", "rename the parser", "run the tests", "write the notes", "ship"].map((text, at) => ({
            ...{ text, state: at < 2 ? "done" : at === 2 ? "active" : "pending" },
          })),
        },
      ],
    ],
  }));

test("what a model writes reaches the terminal as text only", () =>
  expectGolden("hostile-answer", {
    events: [
      [
        "TextDelta",
        { turn, step: 1, block: 0, text: "A \u001b]0;title\u0007 and \u001b[2J `\u001b[31mred` \u202eend\n\nmore" },
      ],
      ["ThinkingDelta", { turn, step: 2, block: 0, text: "\u001b[2J" }],
    ],
  }));

test("a file that was read, a denied call, a long output and a long input take few rows", async () => {
  const denied = { turn, call_id: "call_2", decision: "deny", by: `cli_${"0".repeat(26)}`, reason: "use the library" };
  const shown = await playScene({
    events: [
      ["TurnStarted", { turn, content: [{ type: "text", text: numbers(40, "input") }], model: "m" }],
      start("call_1", "fs.read", "Read", { path: "a.ts", offset: 3 }),
      result("call_1", "     3\tconst a = 1;\n     4\tconst b = 2;"),
      start("call_2", "exec", "Bash", { command: "rm x" }),
      [
        "PermissionRequested",
        { turn, call_id: "call_2", name: "exec", label: "Bash", args: {}, summary: "", reason: "" },
      ],
      ["PermissionAnswered", denied],
      result("call_2", "Permission denied for Bash", { is_error: true, outcome: "denied" }),
      start("call_3", "exec", "Bash", { command: "seq" }),
      result("call_3", numbers(9, "output")),
      ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 0, output_tokens: 0 }, cost_usd: 0, steps: 0 }],
    ],
  });
  expect(shown).toMatch(
    /input 12\n {2}… 28 more lines \(Ctrl-O\)\n✓ Read a\.ts offset=3 +2 lines · 412 ms\n✗ Bash rm x +denied\n/,
  );
  expect(shown).toMatch(
    /denied\n {2}│ use the library\n✓ Bash seq .*\n {2}│ … 5 earlier lines \(Ctrl-O\)\n {2}│ output 6\n/,
  );
  expect(shown).toMatch(/output 9\n0 ms\n\n─/);
});

function numbers(count: number, word: string): string {
  return Array.from({ length: count }, (_, at) => `${word} ${at + 1}`).join("\n");
}
