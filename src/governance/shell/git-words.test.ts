import { expect, test } from "vitest";
import { computingTime } from "../../../test/fakes/computing-time.ts";
import { quietDecision } from "../quiet-preset.ts";

const isQuiet = (command: string): boolean => quietDecision({ tool: "exec", args: { command } }, "/w").quiet;

test.each([
  "git tag",
  "git tag -l 'v1.*'",
  "git tag -n3 --sort=-v:refname",
  "git tag --contains HEAD",
  "git stash list --oneline",
  "git stash show -p 'stash@{0}'",
  "git reflog -n 5 --date=iso",
  "git reflog show main",
  "git worktree list --porcelain",
  "git notes show HEAD~1",
  "git config --get user.email",
  "git config get user.name",
  "git branch --list 'feat*'",
  "git branch --format='%(if)%(HEAD)%(then)* %(end)%(refname:short) %(upstream:track)'",
  "git for-each-ref --sort=-committerdate --format='%(objectname:short)%09%(subject)%0a'",
  "git log --pretty=format:'%C(yellow)%h%Creset %<(20,trunc)%an %+s%n%x09%(trailers:key=Fixes)' --date=short",
  "git log --pretty=fuller --grep=signature",
  "git check-ignore -v .env",
])("%j is quiet", (command) => {
  expect(isQuiet(command)).toBe(true);
});

test.each([
  "git tag x",
  "git tag -n3 x",
  "git tag --sort=refname x",
  "git tag -l -d x",
  "git tag -l x y",
  "git tag --sort=signature",
  "git tag --format='%(signature)'",
  "git tag -l *",
  "git branch x",
  "git branch --list --format='%(describe)'",
  "git branch --list *",
  "git for-each-ref --sort=v:signature:key",
  "git log --format=%G?",
  "git log --format=%+GS",
  "git log --format='%(describe)'",
  "git log --pretty=mine",
  "git log --outp=x",
  "git log --output=x",
  "git diff --ext-di",
  "git diff --submodule=diff",
  "git describe --dirty",
  "git reflog expire",
  "git reflog HEAD expire --all",
  "git reflog delete main",
  "git stash",
  "git stash show -p --output=x",
  "git remote -v",
  "git worktree list extra",
  "git config",
  "git config user.name x",
  "git config core.pager",
  "git config --global",
  "git config --glob user.name",
  "git notes show a b",
])("%j asks", (command) => {
  expect(isQuiet(command)).toBe(false);
});

test("many words are judged in a moment", () => {
  const computedMs = computingTime();
  expect(isQuiet(`git tag ${"-l ".repeat(60)}'!'`)).toBe(true);
  expect(isQuiet(`git tag ${"-l ".repeat(60)}'!' '!'`)).toBe(false);
  expect(isQuiet(`git reflog ${"-1 ".repeat(8000)}x`)).toBe(false);
  expect(computedMs()).toBeLessThan(500);
});
