import { expect, test } from "vitest";
import { opensSession } from "./credentials.ts";

test.each([
  [["run", "-m", "openai:x", "hi"], true],
  [["deploy", "--model=zai:x"], true],
  [["run", "-m", "ollama:x"], true],
  [[], false],
  [["sessions", "list"], false],
])("%j is about to open a session: %j", (argv, opens) => {
  expect(opensSession(argv)).toBe(opens);
});
