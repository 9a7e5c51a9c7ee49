/**
 * Keeps placeholders out of git's way in the home of allowed commands. `git clean -d` and `git stash -u` remove empty folders, and a
 * placeholder cannot be removed, so they would fail. A setting that counts for the repository of the workspace alone ignores them.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HeldName } from "./sandbox.ts";

const INCLUDED = ".config/git/placeholders";
const IGNORED = ".config/git/placeholders-ignored";
/** A path that means itself in a pattern and between quotes. */
const PLAIN_PATH = /^[\w./@+ -]+$/;

/** `home` is the private one of the session. The function that it gives is called before each command. */
export function createPlaceholderIgnore(home: string, root: string): (held: readonly HeldName[]) => void {
  const git = join(root, ".git");
  let written: string | undefined;
  return (held) => {
    const folders = held.filter(({ path, placeholder }) => placeholder === "folder" && dirname(path) === root);
    const names = folders.map(({ path }) => `${path.slice(root.length)}/\n`).join("");
    if (names === written || !PLAIN_PATH.test(git)) return;
    if (written === undefined) include(home, git);
    // It stands for the file that git reads by default.
    writeFileSync(join(home, IGNORED), textOf(join(home, ".config/git/ignore")) + names);
    written = names;
  };
}

function include(home: string, git: string): void {
  mkdirSync(dirname(join(home, INCLUDED)), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, INCLUDED), `[core]\n\texcludesFile = "~/${IGNORED}"\n`);
  appendFileSync(join(home, ".gitconfig"), `[includeIf "gitdir:${git}"]\n\tpath = "~/${INCLUDED}"\n`);
}

function textOf(path: string): string {
  try {
    return `${readFileSync(path, "utf8").trimEnd()}\n`;
  } catch {
    // The person ignores nothing everywhere.
    return "";
  }
}
