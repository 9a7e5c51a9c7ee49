/**
 * A repository that a command has begun at the root of the workspace. Until now there was nothing to protect in it; its
 * hooks and what its configuration would run are taken out before anybody uses it.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHeldBack, moveAside, type Swept, sweepEach, sweptTogether } from "./held-back.ts";
import { ALTERNATES, borrowedOutside, MAX_SWEPT_SUBMODULES, submoduleFolders } from "./repositories.ts";
import { inStraight, straightEntry, straightText, withRights } from "./straight-folder.ts";

const MAX_CONFIG_BYTES = 64 * 1024;
/** One header or key to a line, none of which runs anything. */
const PLAIN_LINE =
  /^\s*(?:$|[#;].*|\[(?:core|user|init|pull|push|(?:remote|branch) "[^"\\\]]*")\]\s*$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|name|email|defaultbranch|url|pushurl|fetch|remote|merge|rebase|default|ff)\s*=[^\\]*$)/i;

/** `git` is its `.git` folder in the workspace `root`. One line for each thing that was taken out. Follows no link. */
export function sweepNewRepository(root: string, git: string): Swept {
  const submodules = submoduleFolders(join(git, "modules"), MAX_SWEPT_SUBMODULES);
  return sweptTogether([git, ...submodules].map((one) => sweepGitFolder(root, one)));
}

/** One of them alone. */
export function sweepGitFolder(root: string, git: string): Swept {
  const hooks = join(git, "hooks");
  return sweptTogether([
    sweepEach(hookNames(hooks), (name) => [`the hook ${name} does not run: ${moveAside(join(hooks, name))}`]),
    sweepEach([hooks], sweepOtherThanFolder),
    sweepEach([git], sweepConfig),
    sweepEach(["commondir", "config.worktree"], (name) => sweepFile(join(git, name))),
    sweepEach([join(git, ALTERNATES)], (path) => {
      const text = straightText(path, MAX_CONFIG_BYTES);
      return text !== undefined && borrowedOutside(root, text).length === 0 ? [] : sweepFile(path);
    }),
  ]);
}

function hookNames(hooks: string): string[] {
  const names = inStraight(hooks, (folder) => withRights(folder, () => readdirSync(folder.here))) ?? [];
  // A name that is no text is none that git looks for.
  return names.filter((name) => !name.endsWith(".sample") && !isHeldBack(name) && !name.includes("\ufffd"));
}

function sweepOtherThanFolder(path: string): string[] {
  return straightEntry(path)?.isDirectory() === true ? [] : sweepFile(path);
}

function sweepFile(path: string): string[] {
  return straightEntry(path) === undefined ? [] : [`${path} is protected: ${moveAside(path)}`];
}

function sweepConfig(git: string): string[] {
  const config = join(git, "config");
  if (straightEntry(config) === undefined) return [];
  const text = straightText(config, MAX_CONFIG_BYTES);
  if (text === undefined) return sweepFile(config);
  const lines = text.split("\n");
  const plain = lines.filter((line) => PLAIN_LINE.test(line));
  if (plain.length === lines.length) return [];
  const said = moveAside(config);
  inStraight(git, ({ entry }) => writeFileSync(entry("config"), plain.join("\n"), { flag: "wx" }));
  return [`${config} contained settings that can run programs; Harness removed them, and ${said}`];
}
