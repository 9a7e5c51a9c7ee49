/**
 * What an attacker who knows the documentation tries, as data. A scene is one scratch home with one workspace and one run of the program; its
 * attempts are the calls the scripted model makes in it. Texts name places by `%OUT%` (outside the workspace), `%HOME%`, `%WS%`, `%ROOT%`,
 * `%MARK%` (a file that must not appear), `%PORT%` and `%HOST%` (a listener), and `%STEERING%` (files that others obey).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface Attempt {
  /** A command for `exec`, or … */
  readonly command?: string;
  /** … another tool with its arguments. */
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** The call must not succeed, whatever it prints. */
  readonly refused?: boolean;
  /** The command has its effect in plain Bash, which shows that it would be seen here. */
  readonly control?: boolean;
}

export interface Scene {
  readonly name: string;
  /** Begun without a repository where false. */
  readonly repository?: boolean;
  /** The workspace, from the root of the scene. Default: `ws`. */
  readonly workspace?: string;
  /** Plain Bash in the workspace before the run: what the user has there. */
  readonly prepare?: string;
  readonly flags?: readonly string[];
  /** `k.sh` and `k2.sh` in the workspace. With `script` alone, the attempt is to run it, then the second one twice. */
  readonly script?: string;
  readonly second?: string;
  readonly attempts?: readonly Attempt[];
  /** Nothing in the workspace may change and nothing may run but in the reader. */
  readonly quiet?: boolean;
  /** Folders in which the user's own git and the files of `%STEERING%` are looked at afterwards. */
  readonly gitIn?: readonly string[];
  /** Folders below the home that must stay as they are, byte by byte, though the program has its own files there. */
  readonly untouched?: readonly string[];
  /** The script has its effect in plain Bash. */
  readonly control?: boolean;
  /** Part of the short version. */
  readonly short?: boolean;
}

export interface GroupedScene extends Scene {
  readonly group: string;
}

const folder = resolve(import.meta.dirname, "../../corpora/black-box");

export function readScenes(): GroupedScene[] {
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const { group, scenes } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        group: string;
        scenes: Scene[];
      };
      return scenes.map((scene) => ({ ...scene, group }));
    });
}

export function attemptsOf(scene: Scene): readonly Attempt[] {
  if (scene.attempts !== undefined) return scene.attempts;
  const first = { command: "bash k.sh" };
  return scene.second === undefined ? [first] : [first, { command: "bash k2.sh" }, { command: "bash k2.sh; true" }];
}

export function nameOf({ command, tool, args }: Attempt): string {
  return command ?? `${tool} ${JSON.stringify(args)}`;
}
