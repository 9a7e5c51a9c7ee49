/**
 * Keeps placeholders out of git's way in the home of allowed commands. `git clean -d` and `git stash -u` remove empty folders, and a
 * placeholder cannot be removed, so they would fail. A setting that counts for the repository of the workspace alone ignores them. What
 * changes from command to command is written where no command can put a link in its place, and mounted read-only.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HeldName, Mount } from "./sandbox.ts";

/** Where commands see it. */
const INSIDE = "/run/harness/git";
/** A path that means itself in a pattern and between quotes. */
const PLAIN_PATH = /^[\w./@+ -]+$/;

export interface PlaceholderIgnore {
  readonly mounts: readonly Mount[];
  /** Before each command: the names that are held for it. */
  update(held: readonly HeldName[]): void;
}

/**
 * To be made before the first command. `folder` is one that commands do not see, `home` the private one of the session, which they
 * write to later; `personal` is the file in which the person says what git ignores everywhere.
 */
export function createPlaceholderIgnore(
  folder: string,
  home: string,
  root: string,
  personal: string,
): PlaceholderIgnore {
  const git = join(root, ".git");
  if (!PLAIN_PATH.test(git)) return { mounts: [], update: () => undefined };
  mkdirSync(folder, { mode: 0o700 });
  const ignored = join(folder, "ignored");
  const everywhere = textOf(personal);
  writeFileSync(ignored, everywhere);
  writeFileSync(join(folder, "config"), `[core]\n\texcludesFile = "${INSIDE}/ignored"\n`);
  appendFileSync(join(home, ".gitconfig"), `[includeIf "gitdir:${git}"]\n\tpath = "${INSIDE}/config"\n`);
  let written = "";
  return {
    mounts: [{ from: folder, to: INSIDE }],
    update(held) {
      const names = held
        .filter(({ path, placeholder }) => placeholder === "folder" && dirname(path) === root)
        .map(({ path }) => `${path.slice(root.length)}/\n`)
        .join("");
      if (names === written) return;
      writeFileSync(ignored, everywhere + names);
      written = names;
    },
  };
}

function textOf(path: string): string {
  try {
    return `${readFileSync(path, "utf8").trimEnd()}\n`;
  } catch {
    // The person ignores nothing everywhere.
    return "";
  }
}
