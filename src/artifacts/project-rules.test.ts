import { expect, test } from "vitest";
import { addProjectRules } from "./project-rules.ts";

const rules = ["Bash(npm test)", 'Bash(git commit -m "a b")'];
const lines = (indent: string): string => `${indent}- "Bash(npm test)"\n${indent}- "Bash(git commit -m \\"a b\\")"\n`;

test.each([
  ["a head without permissions", "model: a:b\n", `model: a:b\npermissions:\n  allow:\n${lines("    ")}`],
  ["an empty head", "", `permissions:\n  allow:\n${lines("    ")}`],
  [
    "a list, with a comment behind its last rule",
    "permissions:\n  allow:\n    - Read # all\n  deny: [Write]\n",
    `permissions:\n  allow:\n    - Read # all\n${lines("    ")}  deny: [Write]\n`,
  ],
  [
    "a list that is not indented",
    "permissions:\n  allow:\n  - Read\nmodel: a:b\n",
    `permissions:\n  allow:\n  - Read\n${lines("  ")}model: a:b\n`,
  ],
  [
    "a list in brackets",
    "permissions:\n  allow: [Read]\n",
    `permissions:\n  allow: [Read, "Bash(npm test)", "Bash(git commit -m \\"a b\\")"]\n`,
  ],
  [
    "an empty list in brackets",
    "permissions: { allow: [], strict: true }\n",
    `permissions: { allow: ["Bash(npm test)", "Bash(git commit -m \\"a b\\")"], strict: true }\n`,
  ],
  [
    "permissions without allow",
    "permissions:\n  deny: [Write]\n",
    `permissions:\n  allow:\n${lines("    ")}  deny: [Write]\n`,
  ],
  [
    "a rule with examples",
    "permissions:\n  allow:\n    - rule: Bash(ls *)\n      match: [Bash(ls -l)]\n",
    `permissions:\n  allow:\n    - rule: Bash(ls *)\n      match: [Bash(ls -l)]\n${lines("    ")}`,
  ],
])("adds to %s", (_, head, expected) => {
  const text = (yaml: string): string => `---\n${yaml}---\n\nBe brief.\n`;
  expect(addProjectRules("harness.md", text(head), rules)).toBe(text(expected));
  expect(addProjectRules("harness.yaml", head, rules)).toBe(expected);
});

test("leaves a rule alone that is there, and refuses a file without a head", () => {
  const text = "---\npermissions: { allow: [Read] }\n---\n";
  expect(addProjectRules("harness.md", text, ["Read"])).toBe(text);
  expect(() => addProjectRules("harness.md", "Be brief.\n", ["Read"])).toThrow("the YAML head is missing");
});
