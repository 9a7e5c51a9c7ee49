/** The environment a child process gets: a short allowlist, so that no key of ours is ever in it. */

import { existsSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { wordSet } from "#base";

/** Those of the locale by name: ssh servers let every `LC_…` through, so that people send tokens in them. */
const INHERITED = wordSet(
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION " +
    "LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME",
);
const SECRET_NAME = /^HARNESS_|_(KEY|TOKEN|SECRET)$/i;
/** Where programs of the system are, whatever the environment says. */
export const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Git asks its configuration which programs to run; these settings win over any repository's own. */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["safe.bareRepository", "explicit"],
  ["log.showSignature", "false"],
  ["core.pager", "cat"],
];

/** `root` is the workspace: programs in it are never found by name. `added` is what the caller sets on purpose; it wins over what is inherited, but cannot name one of our own. */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  root: string,
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = { PATH: SYSTEM_PATH };
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || SECRET_NAME.test(name)) continue;
    if (INHERITED.has(name)) environment[name] = value;
  }
  environment.PATH = outsidePath(environment.PATH ?? SYSTEM_PATH, root);
  // Bash takes an input that is a socket for a login from afar, and would run the user's start-up file before the command.
  environment.SHLVL = "1";
  // Looking at a repository must not write its index; commands that change it take their locks all the same.
  environment.GIT_OPTIONAL_LOCKS = "0";
  environment.GIT_CONFIG_COUNT = String(GIT_SETTINGS.length);
  for (const [index, [key, value]] of GIT_SETTINGS.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    if (!/^HARNESS_/i.test(name)) environment[name] = value;
  }
  return environment;
}

/** The search path without relative folders and without those of the workspace. */
function outsidePath(path: string, root: string): string {
  const kept = path.split(":").filter((folder) => isAbsolute(folder) && !isInside(root, folder));
  return kept.length > 0 ? kept.join(":") : SYSTEM_PATH;
}

function isInside(root: string, folder: string): boolean {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  return [folder, real].some((path) => path === root || path.startsWith(`${root}/`));
}
