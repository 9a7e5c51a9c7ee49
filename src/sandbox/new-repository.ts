/**
 * A repository that a command has begun at the root of the workspace. Until now there was nothing to protect in it; its
 * hooks and what its configuration would run are taken out before anybody uses it.
 */
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHeldBack, moveAside } from "./held-back.ts";

const MAX_CONFIG_BYTES = 64 * 1024;
/** One header or key to a line, none of which runs anything. */
const PLAIN_LINE =
  /^\s*(?:$|[#;].*|\[(?:core|user|init|pull|push|(?:remote|branch) "[^"\\\]]*")\]\s*$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|name|email|defaultbranch|url|pushurl|fetch|remote|merge|rebase|default|ff)\s*=[^\\]*$)/i;

/** `git` is its `.git` folder. One line for each thing that was taken out. */
export function sweepNewRepository(git: string): string[] {
  return [...sweepHooks(join(git, "hooks")), ...sweepConfig(join(git, "config")), ...sweepExtra(git)];
}

function sweepHooks(hooks: string): string[] {
  const info = lstatSync(hooks, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (!info.isDirectory()) return [`${hooks} is protected: ${moveAside(hooks)}`];
  return readdirSync(hooks)
    .filter((name) => !name.endsWith(".sample") && !isHeldBack(name))
    .map((name) => `the hook ${name} does not run: ${moveAside(join(hooks, name))}`);
}

function sweepConfig(config: string): string[] {
  const info = lstatSync(config, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (!info.isFile() || info.size > MAX_CONFIG_BYTES) return [`${config} is protected: ${moveAside(config)}`];
  const lines = readFileSync(config, "utf8").split("\n");
  const plain = lines.filter((line) => PLAIN_LINE.test(line));
  if (plain.length === lines.length) return [];
  const said = moveAside(config);
  writeFileSync(config, plain.join("\n"), { flag: "wx" });
  return [`${config} had settings that can run programs; it has them no more, and ${said}`];
}

function sweepExtra(git: string): string[] {
  return ["commondir", "config.worktree"]
    .map((name) => join(git, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    .map((path) => `${path} is protected: ${moveAside(path)}`);
}
