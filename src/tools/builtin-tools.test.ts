import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { createSystemClock } from "#world";
import { createBuiltinTools, factsOf, isReservedToolName, toolFacts } from "./builtin-tools.ts";

const MAX_SCHEMA_BYTES = 3.4 * 1024;
const tools = createBuiltinTools(createSystemClock()).tools();

/** What a model might send, and what permission rules then see. */
const examples: Record<string, { args: Record<string, unknown>; subject: string }> = {
  "fs.read": { args: { path: "src/a.ts", offset: 10, limit: 20 }, subject: "src/a.ts" },
  "fs.write": { args: { path: "a.txt", content: "x" }, subject: "a.txt" },
  "fs.edit": { args: { path: "a.txt", old_text: "x", new_text: "y", all: true }, subject: "a.txt" },
  "fs.list": { args: { path: "src" }, subject: "src" },
  "fs.glob": { args: { pattern: "**/*.ts", path: "src" }, subject: "src" },
  "fs.search": {
    args: { pattern: "a+", path: "src", glob: "*.ts", ignore_case: true, context: 2, output: "files" },
    subject: "src",
  },
  "fs.move": { args: { from: "a", to: "b" }, subject: "a -> b" },
  "fs.remove": { args: { path: "a", recursive: true }, subject: "a" },
  exec: {
    args: { command: "ls -l", timeout_ms: 1000, cwd: "src", ask: true, outside: false, background: true },
    subject: "ls -l",
  },
  "web.fetch": { args: { url: "https://example.com/", raw: true }, subject: "https://example.com/" },
  ask_user: { args: { question: "Which?", options: ["a", "b"] }, subject: "Which?" },
};

test("names, labels and classes are the agreed ones", () => {
  expect(tools.map((tool) => `${tool.name} ${tool.label} ${tool.class}`)).toEqual([
    "fs.read Read read_only",
    "fs.write Write mutating",
    "fs.edit Edit mutating",
    "fs.list Ls read_only",
    "fs.glob Glob read_only",
    "fs.search Grep read_only",
    "fs.move Move mutating",
    "fs.remove Remove mutating",
    "exec Bash mutating",
    "web.fetch WebFetch sensitive",
    "ask_user AskUser read_only",
  ]);
});

test("facts name arguments that there are, and say of each change what it touches", () => {
  const strange = tools.flatMap(({ name, class: toolClass, parameters }) => {
    const { kind, paths = [] } = factsOf(name) ?? {};
    const properties = Object.keys(parameters.properties ?? {});
    const unknown = paths
      .filter((path) => !properties.includes(path.name))
      .map((path) => `${name} has no ${path.name}`);
    const isUntold = toolClass === "mutating" && paths.length === 0 && kind !== "command";
    return [...unknown, ...(isUntold ? [`${name} changes something untold`] : [])];
  });
  expect(strange).toEqual([]);
});

test("a label or a name means one tool, and neither is free for a tool of anybody else", () => {
  const names = toolFacts.flatMap(({ name, label }) => [name, label]);
  expect(new Set(names).size).toBe(names.length);
  expect(toolFacts.filter(({ name }) => !isReservedToolName(name))).toEqual([]);
  expect(["fs.new", "web.x", "task.x", "mcp.x.y"].filter((name) => !isReservedToolName(name))).toEqual([]);
  expect(isReservedToolName("deploy")).toBe(false);
});

test("what the model is told about all tools stays within its budget", () => {
  const told = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  expect(Buffer.byteLength(JSON.stringify(told))).toBeLessThanOrEqual(MAX_SCHEMA_BYTES);
});

describe.each(tools.map((tool) => [tool.name, tool] as const))("%s", (name, tool) => {
  const example = examples[name];
  const validator = new Validator(tool.parameters, "2020-12");

  test("its schema takes the example, which uses every property, and nothing else", () => {
    const properties = Object.keys(tool.parameters.properties ?? {});
    expect(Object.keys(example?.args ?? {})).toEqual(properties);
    expect(validator.validate(example?.args).valid).toBe(true);
    expect(validator.validate({ ...example?.args, surprise: 1 }).valid).toBe(false);
    for (const property of properties) {
      expect([property, validator.validate({ ...example?.args, [property]: null }).valid]).toEqual([property, false]);
    }
  });

  test("its subject is what rules are matched against", () => {
    expect(tool.subject?.(example?.args ?? {})).toBe(example?.subject);
  });
});
