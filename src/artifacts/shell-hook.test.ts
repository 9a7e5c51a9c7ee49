import { expect, test } from "vitest";
import { commandOfWords } from "./shell-hook.ts";

test.each([
  [["node", "$" + "{CLAUDE_PROJECT_DIR}/a b.js", ""], `exec node "$CLAUDE_PROJECT_DIR"'/a b.js' ''`],
  [["A=1", "it's $(x)"], "exec 'A=1' 'it'\\''s $(x)'"],
])("%j without a shell is %s", (words, command) => {
  expect(commandOfWords(words)).toBe(command);
});
