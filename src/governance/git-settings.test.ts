import { expect, test } from "vitest";
import { changesGitSettings } from "./git-settings.ts";
import { builtinFacts } from "./known-tools.ts";

const seen = (command: string) => changesGitSettings({ tool: builtinFacts("exec"), args: { command } });

test.each([
  ["git config user.name Ann", "git config"],
  ["cd x && git -C y config --unset a.b", "git config"],
  ["git remote add up https://example.com/x.git", "git remote add"],
  ["git submodule update --init", "git submodule update"],
  ["git sparse-checkout set src", "git sparse-checkout set"],
  ["git branch -u origin/main", "git branch -u"],
  ["git push --set-upstream origin main", "git push --set-upstream"],
  ["git push -u origin main", "git push -u"],
])("%s is seen to write git's configuration", (command, expected) => {
  expect(seen(command)).toBe(expected);
});

test.each([
  "git config user.name",
  "git config --get a.b",
  "git config --list",
  "git config --global user.name Ann",
  "git remote -v",
  "git submodule status",
  "git branch",
  "git push origin main",
  "echo git config a.b c",
])("%s is not", (command) => {
  expect(seen(command)).toBeUndefined();
});
