/** Whatever a file holds, reading it ends in time and throws nothing, and every place lies in the file. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_YAML_CHARS, parseFile } from "../../src/artifacts/parse-file.ts";
import type { FileKind } from "../../src/artifacts/project.ts";
import { createFakeScriptChecker } from "../fakes/fake-script-checker.ts";

/** Of this thread's own work: the machine may be busy with other things. */
const MAX_MS = 1000;
const kinds: readonly FileKind[] = ["config", "admin", "tool", "hook", "agent", "plugin", "override"];

const valid = [
  "---\nevent: tool.pre\npriority: 10\nwhen: payload[\"name\"] == 'x'\nmatch: [exec, {name: a, args: {b: 1}}]\nscript: |\n  def handle(event, payload):\n      return allow()\n---\n\n# guard\n",
  "---\nparameters:\n  command: { type: string, required: true }\n  n: &n {type: int, enum: [1, 2]}\n  m: *n\nscript: |\n  def run(args):\n      return 1\ntimeout_ms: 30000\n---\nRuns.\n",
  "---\nmodel: {provider: a, name: b, retry: {max_attempts: 3}}\ntools_policy:\n  mode: allowlist\n  allow: ['fs.*', {pattern: exec, match: [exec]}]\n  deny: [fs.remove]\nnetwork: {allowed_domains: ['*.example.com']}\nserve: {sources: [{type: stdin}]}\nbudgets: {turn: {max_cost_usd: 1}}\npermissions: {allow: [Read]}\ndelegation: {iterations_per_depth: [1, 2]}\n---\nYou.\n",
  "---\ndescription: x\nmodel: m\ntools:\n  - name: t\n    script: |\n      def run(args): return 1\n  - fs.read\nhooks: []\n---\nYou.\n",
] as const;

/** Pieces that mean something to YAML, to Markdown or to us. */
const pieces = fc.constantFrom(
  "---\n",
  "\n",
  "  ",
  "\t",
  ": ",
  "- ",
  "|\n",
  ">\n",
  "&a ",
  "*a",
  "!!binary ",
  "!x ",
  "{",
  "}",
  "[",
  "]",
  "'",
  '"',
  "#",
  "%YAML 1.1\n",
  "? ",
  "<<: *a\n",
  "null",
  "~",
  "\u0000",
  "\uFEFF",
  "\r\n",
  "\u2028",
  "𝕏",
  "1e400",
  ".nan",
  "0x7fffffffffffffff",
  "__proto__: 1\n",
  "tools:\n",
  "script: |\n",
  "name: constructor\n",
  "...\n",
  "a".repeat(300),
);

const change = fc.record({
  at: fc.nat(),
  drop: fc.nat({ max: 20 }),
  put: fc.oneof(pieces, fc.string({ maxLength: 10 })),
});

function mutate(text: string, changes: readonly { at: number; drop: number; put: string }[]): string {
  return changes.reduce((now, { at, drop, put }) => {
    const start = at % (now.length + 1);
    return now.slice(0, start) + put + now.slice(start + drop);
  }, text);
}

function read(kind: FileKind, text: string): void {
  const start = process.threadCpuUsage();
  const { problems } = parseFile(
    { kind, file: `x.${kind === "config" ? "yaml" : "md"}`, hash: "", text },
    createFakeScriptChecker(),
  );
  const md = parseFile({ kind, file: "x.md", hash: "", text }, createFakeScriptChecker());
  expect(workMs(start)).toBeLessThan(MAX_MS);
  const lines = text.split("\n");
  for (const { place } of [...problems, ...md.problems]) {
    expect(place.line).toBeGreaterThanOrEqual(1);
    expect(place.line).toBeLessThanOrEqual(lines.length + 1);
    expect(place.column).toBeGreaterThanOrEqual(1);
    expect(place.column).toBeLessThanOrEqual((lines[place.line - 1]?.length ?? 0) + 2);
  }
  expect(JSON.parse(JSON.stringify(md))).toEqual(md);
}

function workMs(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

describe("a file with anything in it", () => {
  test("is read in time, and throws nothing", () => {
    const changed = fc
      .tuple(fc.constantFrom(...valid), fc.array(change, { minLength: 1, maxLength: 8 }))
      .map(([text, changes]) => mutate(text, changes));
    fc.assert(fc.property(fc.constantFrom(...kinds), changed, read), {
      numRuns: Number(process.env.FUZZ_RUNS ?? 3000),
    });
  });

  test.each<[string, (index: number) => string]>([
    ["brackets", () => "["],
    ["maps in a line", () => "{a: "],
    ["question marks", () => "? "],
    ["dashes", () => "- "],
    ["quotes", (index) => (index === 0 ? 'a: "' : "\\")],
    ["keys", (index) => `k${index}: 1\n`],
    ["one key", () => "k: 1\n"],
    ["anchors", (index) => `k${index}: &a${index} x\n`],
    ["lists in lists", (index) => `${" ".repeat(Math.min(index, 500))}-\n`],
    ["empty lines", () => "\n"],
    ["colons", () => ":"],
    ["comments", () => "#\n"],
  ])("is read in time when it is as large as may be, of %s", (_, piece) => {
    let yaml = "";
    for (let index = 0; yaml.length < MAX_YAML_CHARS - 100; index++) yaml += piece(index);
    for (const kind of ["hook", "config"] as const) {
      const start = process.threadCpuUsage();
      parseFile({ kind, file: "x.md", hash: "", text: `---\n${yaml}\n---\n` }, createFakeScriptChecker());
      expect(workMs(start)).toBeLessThan(MAX_MS);
    }
  });
});
