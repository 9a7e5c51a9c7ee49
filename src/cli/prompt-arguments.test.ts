import { expect, test } from "vitest";
import { withCommand } from "./prompt-arguments.ts";

test.each([
  ["fix the tests"],
  ["-p", "hello"],
  ["--model", "ollama:qwen3"],
  ["-m", "ollama:qwen3", "fix the tests"],
  ["--allow=Bash(npm test)"],
  ["--plain", "--continue"],
  ["--moddel", "x"],
])("%s %s means a run", (...argv) => {
  expect(withCommand(argv)).toEqual(["run", ...argv]);
});

test("a run is in this process without being asked to", () => {
  expect(withCommand(["--no-daemon", "-m", "a:b"])).toEqual(["run", "-m", "a:b"]);
});

test.each([
  [],
  ["--plain", "--no-daemon"],
  ["--help"],
  ["-V"],
  ["--log-level", "debug"],
  ["--log-level=debug"],
  ["sessions", "list"],
  ["--plain", "attach"],
  ["fxi"],
])("%s %s stays as it is", (...argv) => {
  expect(withCommand(argv)).toEqual(argv);
});
