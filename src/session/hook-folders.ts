/**
 * Folders of the user with the scripts that their hooks name: the sandbox shows them to commands, read-only. A script in the home
 * folder itself is shown alone, because everything else lies beside it.
 */
import { lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ShellHook } from "#artifacts";

const MAX_FOLDERS = 64;

export function hookFolders(
  hooks: readonly ShellHook[],
  { HOME: home }: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const paths = hooks
    .filter(({ tier }) => tier === "user")
    .flatMap(({ command }) => namedPaths(command, home))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => (dirname(path) === home || dirname(path) === "/" ? path : dirname(path)));
  return [...new Set(paths)].slice(0, MAX_FOLDERS);
}

/** Words of a command that begin with a slash or with the home folder. */
export function namedPaths(command: string, home: string | undefined): readonly string[] {
  const words = command.match(/(?:~|\$HOME|\$\{HOME\}|"\$HOME"|"\$\{HOME\}")?\/[^\s"'`;|&<>()$]+/g) ?? [];
  return words.flatMap((word) => {
    const rest = /^(?:~|"?\$\{?HOME\}?"?)(\/.*)$/.exec(word)?.[1];
    if (rest === undefined) return [resolve(word)];
    return home === undefined ? [] : [resolve(home, `.${rest}`)];
  });
}
