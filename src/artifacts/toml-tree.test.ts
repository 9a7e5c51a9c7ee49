import { expect, test } from "vitest";
import { parseToml } from "./toml-tree.ts";
import type { Tree } from "./yaml-tree.ts";

/** The line of each value, by its dotted name. */
function linesOf(text: string): Record<string, number> {
  const tree = parseToml("config.toml", text);
  const lines: Record<string, number> = {};
  const visit = (node: Tree): void => {
    if (node.kind === "map") for (const { value } of node.entries) visit(value);
    else if (node.kind === "list") for (const item of node.items) visit(item);
    lines[tree.nameAt(node.place)] = node.place.line;
  };
  visit(tree.root);
  return lines;
}

test("each table of an array has its own lines", () => {
  const text = `strict = true\n\n[[hooks]]\nevent = "Stop"\ncmd = "true"\n\n[[hooks]]\nevent = "Compact"\ncmd = "false"\n`;
  expect(linesOf(text)).toMatchObject({
    strict: 1,
    "hooks.0": 3,
    "hooks.0.event": 4,
    "hooks.0.cmd": 5,
    "hooks.1": 7,
    "hooks.1.event": 8,
    "hooks.1.cmd": 9,
  });
});

test("an entry of a list is where its text is", () => {
  const text = `[permissions]\nallow = [\n  "Read",\n  "Bash(git status)",\n]\n`;
  expect(linesOf(text)).toMatchObject({ "permissions.allow": 2, "permissions.allow.0": 3, "permissions.allow.1": 4 });
});
