/**
 * Folders in which no session works: the whole file system, folders of the system, a home folder, the program's own folders and what
 * holds them, and folders whose files all steer other programs. What is in them cannot be told apart from an ordinary project.
 */
import { basename, resolve, sep } from "node:path";
import { steeringFile } from "#base";
import { homeFolders } from "./home-folders.ts";
import { realPath } from "./real-path.ts";

export interface RefusedWorkspaceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and folders of the program itself, absolute. Nothing in them is a workspace. */
  readonly own: readonly string[];
  /** Those of them that a workspace must not hold either: a command that renames the folder between would put others in their place. */
  readonly apart: readonly string[];
}

/** Of the machine; a folder of a project may lie in them. */
const SYSTEM_FOLDERS = ["/bin", "/dev", "/etc", "/lib", "/lib64", "/run", "/sbin", "/usr", "/usr/local", "/var"];
/** Nothing in them is a project. */
const SYSTEM_TREES = ["/boot", "/proc", "/sys", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/sbin"];

/** For people: why no session works there, and what to do; undefined for a folder that can be a workspace. */
export function refusedWorkspace(folder: string, { env, own, apart }: RefusedWorkspaceOptions): string | undefined {
  const root = realPath(resolve(folder));
  const why = whyRefused(root, homeFolders(env).map(realPath), own.map(realPath), apart.map(realPath));
  if (why === undefined) return undefined;
  return `the workspace ${folder} cannot be used: ${why}. Name the folder of a project`;
}

function whyRefused(
  root: string,
  homes: readonly string[],
  own: readonly string[],
  apart: readonly string[],
): string | undefined {
  if (root === "/") return "it is the whole file system";
  if (SYSTEM_FOLDERS.includes(root) || SYSTEM_TREES.some((folder) => isWithin(root, folder)))
    return "it belongs to the system";
  if (homes.includes(root)) return "it is a home folder, whose files decide what shells and programs run";
  if (homes.some((home) => isWithin(home, root))) return "it contains a home folder";
  if (own.some((path) => isWithin(root, path))) return "it belongs to this program";
  const held = apart.find((path) => isWithin(path, root));
  if (held !== undefined) return `it contains ${held}, which belongs to this program`;
  const inside = root.split(sep).find((name) => name === ".git" || name === ".harness");
  if (inside !== undefined) return `it is inside a ${inside} folder, whose files decide what programs run`;
  // The name of a file is added, because some steering files are only ever files.
  const steering = steeringFile(`${basename(root)}/file`);
  return steering === undefined ? undefined : `it is ${steering.why}`;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
