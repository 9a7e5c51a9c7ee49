import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadScenario, parseScenario } from "./scenario.ts";

/** The lines of the refusal, without the file name. */
async function problems(text: string): Promise<string[]> {
  const error: unknown = await parseScenario(text, "s.yaml").catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error("the scenario was accepted");
  expect(error).toMatchObject({ reason: "ScenarioInvalid" });
  return error.message.split("\n").map((line) => line.replace(/^s\.yaml:/, ""));
}

const reply = (item: string) => `name: x\nrules:\n  - reply:\n      - ${item}\n`;

describe("a scenario", () => {
  it("is read in full", async () => {
    const text = `
name: all
description: everything there is
prompt: go
allow: [Bash(ls), Edit(a.txt)]
rules:
  - when: {input: hello, tool_result: '/^a(b)c$/im', tool: fs.read, step: 2}
    times: 3
    reply:
      - text: "hi {{input}}"
      - thinking: hm
      - {tool: fs.list}
      - {tool: fs.read, args: {path: a, lines: [1, true, null]}}
      - {tool: exec, args: '{"command'}
      - pause_ms: 20
      - {fault: rate_limited, retry_after_ms: 100, times: 2}
      - yield: done
  - reply: [{fault: cut}]
  - reply: [{yield: }]
otherwise: []
`;
    expect(await parseScenario(text, "s.yaml")).toEqual({
      name: "all",
      description: "everything there is",
      prompt: "go",
      allow: ["Bash(ls)", "Edit(a.txt)"],
      rules: [
        {
          when: { input: "hello", toolResult: /^a(b)c$/im, tool: "fs.read", step: 2 },
          times: 3,
          reply: [
            { kind: "text", text: "hi {{input}}" },
            { kind: "thinking", text: "hm" },
            { kind: "tool", name: "fs.list", args: {} },
            { kind: "tool", name: "fs.read", args: { path: "a", lines: [1, true, null] } },
            { kind: "tool", name: "exec", args: '{"command' },
            { kind: "pause", ms: 20 },
            { kind: "fault", fault: "rate_limited", retryAfterMs: 100, times: 2 },
            { kind: "yield", reason: "done" },
          ],
        },
        { when: {}, reply: [{ kind: "fault", fault: "cut" }] },
        { when: {}, reply: [{ kind: "yield" }] },
      ],
      otherwise: [],
    });
  });

  it("needs only a name and rules", async () => {
    expect(await parseScenario("name: x\nrules: []\n", "s.yaml")).toEqual({ name: "x", allow: [], rules: [] });
  });
});

describe("what is wrong", () => {
  it("is told all at once, in order, with its place and the nearest key", async () => {
    const text = `name: x
promt: hi
rules:
  - when: {imput: a}
    reply: [{tex: b}]
  - wen: {}
otherwize: []
`;
    expect(await problems(text)).toEqual([
      '2:1: unknown key "promt"; did you mean "prompt"?',
      '4:12: unknown key "imput"; did you mean "input"?',
      '5:13: expected exactly one of text, thinking, tool, fault, pause_ms, yield: unknown key "tex"; did you mean "text"?',
      '6:5: unknown key "wen"; did you mean "when"?',
      '6:5: "reply" is missing',
      '7:1: unknown key "otherwize"; did you mean "otherwise"?',
    ]);
  });

  it.each([
    ["", ["1:1: expected a mapping with name, description, prompt, allow, rules, otherwise"]],
    ["rules: []", ['1:1: "name" is missing']],
    ["name: x", ['1:1: "rules" is missing']],
    ["name: 7\nrules: []", ["1:7: expected a text; put it in quotes"]],
    ["name: a b\nrules: []", ['1:7: a name is up to 64 letters, digits, ".", "_" and "-"']],
    ["name: x\nrules: {}", ["2:8: expected a list"]],
    ["name: x\nrules: [a]", ["2:9: expected a mapping with when, reply, times"]],
    ["name: x\nrules: []\nallow: [1]", ["3:9: expected a text; put it in quotes"]],
    ["name: x\nname: y\nrules: []", ["2:1: Map keys must be unique"]],
    ["name: &a x\nrules: []\nprompt: *a", ["3:9: aliases are not supported here"]],
    ["name: !foo x\nrules: []", ["1:7: Unresolved tag: !foo"]],
    [reply("{text}"), ['4:10: "text" has no value']],
    [reply("{text: a, tool: b}"), ["4:9: expected exactly one of text, thinking, tool, fault, pause_ms, yield"]],
    [reply("{text: a, args: {}}"), ['4:19: unknown key "args"; known are text']],
    [reply("{pause_ms: -1}"), ["4:20: expected a whole number from 0 to 600000"]],
    [reply("{pause_ms: 1.5}"), ["4:20: expected a whole number from 0 to 600000"]],
    [reply("{fault: cutt}"), ['4:17: unknown fault "cutt"; did you mean "cut"?']],
    [reply("{tool: a, args: [1]}"), ["4:25: expected a mapping of arguments, or a text that is sent as it is"]],
    [reply("{yield: a}\n      - {text: b}"), ['4:9: nothing after "yield" is ever reached']],
    [reply("{fault: cut}\n      - {text: b}"), ['4:9: nothing after "fault" is ever reached']],
    [
      "name: x\nrules: [{when: {input: '/(/'}, reply: []}]",
      [expect.stringMatching(/^2:24: not a pattern: .*Unterminated/)],
    ],
    ["name: x\nrules: [{when: {input: /a/g}, reply: []}]", ['2:24: a pattern takes the flags i, m, s and u, not "g"']],
    ["name: x\nrules: [{when: {step: 0}, reply: []}]", ["2:23: expected a whole number from 1 to 10000"]],
    ["name: x\nrules: [{times: 0, reply: []}]", ["2:17: expected a whole number from 1 to 1000000"]],
    [
      reply('{text: "{{name}}"}'),
      ["4:16: {{name}} stands for nothing; known are {{input}}, {{tool_result}} and {{input.1}} to {{input.9}}"],
    ],
    [
      reply('{tool: a, args: {deep: ["{{input.1}}"]}}'),
      ["4:25: {{input.1}} stands for nothing; the pattern of when.input has 0 groups"],
    ],
    [
      'name: x\nrules: [{when: {input: /(a)/}, reply: [{text: "{{input.1}} {{input.2}}"}]}]',
      ["2:47: {{input.2}} stands for nothing; the pattern of when.input has 1 groups"],
    ],
  ])("is found in %j", async (text, expected) => {
    expect(await problems(text)).toEqual(expected);
  });

  it("is found in the syntax, every place of it", async () => {
    const found = await problems("name: [\nrules: ]\n  - }\n");
    expect(found.length).toBeGreaterThan(1);
    for (const line of found) expect(line).toMatch(/^\d+:\d+: /);
  });

  it("is told up to a bound", async () => {
    const found = await problems(`name: x\nrules: []\n${Array.from({ length: 60 }, (_, i) => `k${i}: 1`).join("\n")}`);
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toBe(" and 10 more");
  });

  it("may be the size", async () => {
    const rules = (count: number) => `name: x\nrules:\n${"  - reply: []\n".repeat(count)}`;
    expect((await parseScenario(rules(1000), "s.yaml")).rules).toHaveLength(1000);
    expect(await problems(rules(1001))).toEqual(["3:3: expected at most 1000 items, found 1001"]);
    expect(await problems(reply(`text: ${"a".repeat(100_001)}`))).toEqual([
      "4:15: expected a text of at most 100000 characters",
    ]);
    expect(await problems(`name: x\nrules: []\n# ${"a".repeat(1_000_000)}`)).toEqual([
      " the file is larger than 1000000 bytes",
    ]);
    expect((await problems(`name: ${"[".repeat(200_000)}`)).length).toBeGreaterThan(0);
  });
});

describe("a scenario file", () => {
  it("is loaded, and named when it cannot be", async () => {
    const directory = mkdtempSync(join(tmpdir(), "harness-scenario-"));
    try {
      const path = join(directory, "a.yaml");
      await expect(loadScenario(path)).rejects.toMatchObject({
        reason: "ScenarioInvalid",
        message: `${path} does not exist`,
        cause: { code: "ENOENT" },
      });
      writeFileSync(path, "name: a\nrules: []\n");
      expect(await loadScenario(path)).toEqual({ name: "a", allow: [], rules: [] });
      writeFileSync(path, "nam: a\nrules: []\n");
      await expect(loadScenario(path)).rejects.toThrow(`${path}:1:1: unknown key "nam"`);
      writeFileSync(path, "#".repeat(1_000_001));
      await expect(loadScenario(path)).rejects.toThrow(`${path}: the file is larger than 1000000 bytes`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
