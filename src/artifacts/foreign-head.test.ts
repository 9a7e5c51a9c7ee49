import { expect, test } from "vitest";
import { parseForeignHead } from "./foreign-head.ts";
import type { Problem } from "./project.ts";

function read(yaml: string) {
  const problems: Problem[] = [];
  const tree = parseForeignHead("SKILL.md", `\n${yaml}`, problems);
  const values = tree?.entries.map(({ key, keyPlace, value }) => [
    key,
    value.kind === "scalar" ? value.value : value.kind,
    keyPlace.line,
  ]);
  return { values, errors: problems.filter(({ severity }) => severity === "error").length };
}

test.each([
  [
    "argument-hint: [pr-number] [priority]\nmodel: haiku",
    [
      ["argument-hint", "[pr-number] [priority]", 2],
      ["model", "haiku", 3],
    ],
  ],
  ["description: Use this: for PDF files", [["description", "Use this: for PDF files", 2]]],
  [
    "description: Trigger on: update\n  the timesheet: now\nname: a",
    [
      ["description", "Trigger on: update the timesheet: now", 2],
      ["name", "a", 4],
    ],
  ],
  [
    "argument-hint: @file\nname: a",
    [
      ["argument-hint", "@file", 2],
      ["name", "a", 3],
    ],
  ],
  ['description: "Quoted" and more: text', [["description", '"Quoted" and more: text', 2]]],
  ["description: `npm test` runs", [["description", "`npm test` runs", 2]]],
  [
    "tags: [a, b]\ndescription: x: y",
    [
      ["tags", "list", 2],
      ["description", "x: y", 3],
    ],
  ],
  [
    "metadata:\n  a: 1\ndescription: x: y",
    [
      ["metadata", "map", 2],
      ["description", "x: y", 4],
    ],
  ],
])("reads %j as other agents do", (yaml, values) => {
  expect(read(yaml)).toEqual({ values, errors: 0 });
});

test.each([
  ["description: |\n  kept\n  lines", [["description", "kept\nlines\n", 2]]],
  ["description: a # comment", [["description", "a", 2]]],
])("reads %j as YAML does", (yaml, values) => {
  expect(read(yaml)).toEqual({ values, errors: 0 });
});

test.each(["name: *nothing", "metadata:\n  a: b: c", "- a\n- b", "name: !!binary x: y", "description: [", "a: {b: c"])(
  "reports %j",
  (yaml) => {
    expect(read(yaml).values).toBeUndefined();
    expect(read(yaml).errors).toBeGreaterThan(0);
  },
);

test("is quick with what matches nothing", () => {
  const long = `a:${" ".repeat(30_000)}`;
  const startedMs = performance.now();
  read(`${long}\nb: c: d`);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});
