/** Eval cases as people write them: everything that is wrong is told at its place, and what is unknown never fails. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createScriptChecker } from "#script";
import { type EvalFile, readEvalFile } from "./eval-file.ts";

function read(text: string): EvalFile {
  const folder = mkdtempSync(join(tmpdir(), "harness-case-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "01_case.yaml");
  writeFileSync(path, text);
  return readEvalFile(path, createScriptChecker());
}

function problemsOf(text: string): string[] {
  return read(text).problems.map(({ severity, place, code, message, nearest }) => {
    return [
      `${severity} ${place.file}:${place.line} ${code}: ${message}`,
      ...(nearest === undefined ? [] : [`→ ${nearest}`]),
    ].join(" ");
  });
}

const rest = `turns:
  - role: user
    content: Hello.
grade:
  - type: no_errors
`;

test("a case with everything", () => {
  const { evalCase, problems, scenarioText } = read(`name: "reads-a-file"
description: "The tool is called"
category: "tools"
model: "gpt-4o-mini"
max_tokens: 500
timeout: "30s"

setup:
  system_prompt: |
    You are brief.
  tools:
    - name: read_file
      description: "Read a file"
      parameters:
        path: { type: string, required: true }
      script: |
        def run(args):
          return "mock file contents"
    - fs.write
  hooks:
    - name: path_guard
      event: "tool.pre"
      script: |
        def handle(event, payload):
          if ".." in payload.get("arguments", {}).get("path", ""):
            return block("no")
          return allow()
  files:
    notes.txt: |
      call Ada
    src: { from: fixtures/src }
  allow: [Write]
  deny: ["Bash(rm *)"]
  context: { mode: pull_request, retries: 2 }
  scenario:
    name: reader   # at its own lines
    rules: []

    otherwise:
      - text: done
turns:
  - role: user
    content: "Read it."
  - content: "Again."
grade:
  - { type: tool_called, tool: read_file }
  - { type: tokens_under, value: "300" }
  - { type: tokens_under, value: 300 }
  - { type: completed_within, value: 1.5s }
  - { type: delegation_depth, value: 2 }
  - { type: json_schema, schema: { type: object } }
  - { type: verified }
`);
  expect(problems).toEqual([]);
  expect(evalCase).toMatchObject({
    name: "reads-a-file",
    category: "tools",
    model: { value: "gpt-4o-mini" },
    maxTokens: 500,
    timeoutMs: 30_000,
    turns: ["Read it.", "Again."],
    setup: {
      systemPrompt: "You are brief.\n",
      tools: [{ name: "read_file", place: { file: "01_case.yaml", line: 12 } }],
      builtinTools: [{ pattern: "fs.write" }],
      hooks: [{ name: "path_guard", event: "tool.pre" }],
      files: [
        { path: "notes.txt", content: { text: "call Ada\n" } },
        { path: "src", content: { from: "fixtures/src" } },
      ],
      rules: [
        { effect: "allow", rule: "Write", source: "01_case.yaml:32" },
        { effect: "deny", rule: "Bash(rm *)", source: "01_case.yaml:33" },
      ],
      context: { mode: "pull_request", retries: 2 },
    },
  });
  expect(evalCase?.grade.map(({ label, place }) => `${place.line} ${label}`)).toEqual([
    "46 tool_called read_file",
    "47 tokens_under 300",
    "48 tokens_under 300",
    "49 completed_within 1500ms",
    "50 delegation_depth 2",
    "51 json_schema",
    "52 verified",
  ]);
  const lines = scenarioText?.split("\n") ?? [];
  expect(lines.slice(0, 35).join("")).toBe("");
  expect(lines.slice(35)).toEqual([
    "    name: reader   # at its own lines",
    "    rules: []",
    "",
    "    otherwise:",
    "      - text: done",
    "",
  ]);
});

test("unknown keys warn with the nearest, at every level, and the case still counts", () => {
  const text = `name: a
catgory: x
setup:
  sytem_prompt: hi
turns:
  - rol: user
    content: Hello.
grade:
  - type: tool_called
    tool: exec
    toool: x
`;
  expect(problemsOf(text)).toEqual([
    'warning 01_case.yaml:2 unknown-key: Case: the key "catgory" is unknown and has no effect. → category',
    'warning 01_case.yaml:4 unknown-key: Setup: the key "sytem_prompt" is unknown and has no effect. → system_prompt',
    'warning 01_case.yaml:6 unknown-key: Turn: the key "rol" is unknown and has no effect. → role',
    'warning 01_case.yaml:11 unknown-key: tool_called: the key "toool" is unknown and has no effect. → tool',
  ]);
  expect(read(text).evalCase).toBeDefined();
});

test.each<[string, string, string]>([
  ["no name", rest, 'error 01_case.yaml:1 missing-key: Case: "name" is missing.'],
  ["a name that is none", `name: "a b"\n${rest}`, 'error 01_case.yaml:1 bad-name: "a b" cannot be a name.'],
  ["no turns", "name: a\ngrade:\n  - type: no_errors\n", 'error 01_case.yaml:1 missing-key: Case: "turns" is missing.'],
  [
    "nothing to grade",
    "name: a\nturns: [{content: x}]\ngrade: []\n",
    "error 01_case.yaml:3 wrong-length: grade: There are 0 entries.",
  ],
  [
    "a turn of the assistant",
    `name: a\nturns: [{role: assistant, content: x}]\ngrade: [{type: no_errors}]\n`,
    'error 01_case.yaml:2 wrong-value: turns.role: "assistant" is not valid here.',
  ],
  [
    "an unknown assertion",
    `name: a\nturns: [{content: x}]\ngrade:\n  - type: tool_caled\n`,
    'error 01_case.yaml:4 unknown-assertion: "tool_caled" is not valid here. → tool_called',
  ],
  [
    "an assertion without its type",
    `name: a\nturns: [{content: x}]\ngrade:\n  - tool: exec\n`,
    'error 01_case.yaml:4 missing-key: Assertion: "type" is missing.',
  ],
  [
    "an assertion without its value",
    `name: a\nturns: [{content: x}]\ngrade:\n  - type: response_contains\n`,
    'error 01_case.yaml:4 missing-key: response_contains: "value" is missing.',
  ],
  [
    "a time without a unit",
    `name: a\ntimeout: 30\n${rest}`,
    "error 01_case.yaml:2 wrong-value: timeout: 30 is not valid here.",
  ],
  [
    "tokens that are no number",
    `name: a\nturns: [{content: x}]\ngrade: [{type: tokens_under, value: few}]\n`,
    'error 01_case.yaml:3 wrong-value: grade.value: "few" is not valid here.',
  ],
  [
    "a path that leads out",
    `name: a\nturns: [{content: x}]\ngrade: [{type: file_exists, path: ../x}]\n`,
    'error 01_case.yaml:3 wrong-value: grade.path: "../x" is not valid here.',
  ],
  [
    "a file that leads out",
    `name: a\nsetup:\n  files:\n    /etc/x: hi\n${rest}`,
    'error 01_case.yaml:4 bad-path: "/etc/x" is not a path in the workspace.',
  ],
  [
    "a project and a tool of its own",
    `name: a\nsetup:\n  config: harness.md\n  tools: [fs.read]\n${rest}`,
    "error 01_case.yaml:4 excluded: `config` and `tools` cannot be combined: remove one of them.",
  ],
  [
    "a built-in tool that is none",
    `name: a\nsetup:\n  tools: [fs.raed]\n${rest}`,
    'error 01_case.yaml:3 unknown-tool: "fs.raed" is not valid here. → fs.read',
  ],
  [
    "a scenario on one line",
    `name: a\nsetup:\n  scenario: { name: x, rules: [] }\n${rest}`,
    "error 01_case.yaml:3 wrong-value: setup.scenario: A table is not valid here.",
  ],
])("%s is an error at its place", (_, text, problem) => {
  expect(problemsOf(text)).toEqual([problem]);
  expect(read(text).evalCase).toBeUndefined();
});

test("a script is checked where it is written", () => {
  const text = `name: a
setup:
  tools:
    - name: greet
      script: |
        def run(args):
          return nobody
${rest}`;
  expect(problemsOf(text)).toEqual([expect.stringMatching(/^error 01_case\.yaml:7 .*nobody/)]);
});

test("a file that is no YAML, no text, or not there", () => {
  expect(problemsOf("name: [")).toEqual([expect.stringMatching(/^error 01_case\.yaml:1 yaml: /)]);
  expect(problemsOf("just words")).toEqual([expect.stringMatching(/^error 01_case\.yaml:1 not-a-map: /)]);
  expect(readEvalFile("/nowhere/x.yaml", createScriptChecker()).problems).toMatchObject([{ code: "file-not-found" }]);
});
