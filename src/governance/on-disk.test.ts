/** Names that a repository brings along, read by commands that work on what git lists. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createShellJudge } from "../../test/fakes/shell-judge.ts";
import { createShellWorkspace } from "../../test/fakes/shell-workspace.ts";

const READERS = [
  "git ls-files | xargs cat",
  "cat $(git ls-files)",
  "git ls-files '*.txt' | xargs head -1",
  "for f in $(git ls-files); do cat $f; done",
];

function track(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "");
  execFileSync("git", ["add", "--", `./${path}`], { cwd: root });
}

const prepared: Readonly<Record<string, (root: string) => void>> = {
  "a folder whose name ends with a blank": (root) => track(root, "x /etc/hostname.txt"),
  "a folder that reads as an option": (root) => track(root, "-n/a.txt"),
  "a path that climbs, in the index": (root) => {
    const path = join(root, ".git/index");
    const index = readFileSync(path).subarray(0, -20);
    const at = index.indexOf("notes.txt\0");
    index.write("../ot.txt", at, "latin1");
    writeFileSync(path, Buffer.concat([index, createHash("sha1").update(index).digest()]));
  },
  "a folder that has become a link": (root) => {
    track(root, "etc/hostname.txt");
    renameSync(join(root, "etc"), join(root, "before"));
    symlinkSync("/etc", join(root, "etc"));
  },
  "a file that has become a link": (root) => {
    track(root, "a.txt");
    renameSync(join(root, "a.txt"), join(root, "before.txt"));
    symlinkSync("/etc/hostname", join(root, "a.txt"));
  },
};

test.each(Object.keys(prepared))("%s makes reading what git lists a question", async (name) => {
  const workspace = createShellWorkspace();
  onTestFinished(() => workspace.remove());
  const { judge } = createShellJudge(workspace.root);
  const outcomes = async (): Promise<string[]> => {
    const all: string[] = [];
    for (const command of READERS) all.push((await judge(command)).outcome);
    return all;
  };
  expect(await outcomes()).toEqual(READERS.map(() => "allow"));
  prepared[name]?.(workspace.root);
  expect(await outcomes()).toEqual(READERS.map(() => "ask"));
});
