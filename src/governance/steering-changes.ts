/**
 * Which steering files a call of a file tool would change, by the names in it and by where they lead. A folder counts for all that
 * is in it: moving or removing one changes its files too.
 */
import { posix } from "node:path";
import { EffectError, steeringFile } from "#base";
import type { DiskReader, DiskView } from "./disk-view.ts";
import { namedPaths, pathArguments } from "./known-tools.ts";
import { workspaceRelative } from "./sensitive-paths.ts";

export interface SteeringChange {
  /** From the workspace root. */
  readonly paths: readonly string[];
  /** For people: the first of them, and what obeys it. */
  readonly why: string;
}

/** How a decision about steering files names its rule. */
export const STEERING_RULE = "built-in: steering-files";

/** One with thousands of branches is smaller. */
const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
/** The value as git reads it in the plain cases. The sandbox, which holds such folders against commands, reads it in all. */
const HOOKS_PATH = /^[^\S\n]*(?:\[[^\]\n]*\][^\S\n]*)?hookspath[^\S\n]*=[^\S\n]*"?([^"\n#;]*[^"\s#;])/gim;

/** A folder with more entries is not looked through, and changing it needs a person. */
const MAX_ENTRIES = 20_000;

/** Undefined when the call changes ordinary files only. */
export async function steeringChange(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  disk: DiskView,
): Promise<SteeringChange | undefined> {
  const names = namedPaths(tool, args);
  // Moving or removing a folder changes all that is in it.
  const takesFolders = pathArguments(tool).some(({ means }) => means === "entry");
  const places: string[][] = [];
  for (const name of names) places.push(await placesOf(name, disk));
  const paths = places.flatMap((found) => found.find((path) => steeringFile(path) !== undefined) ?? []);
  const [first] = paths;
  if (first !== undefined) return { paths: [...new Set(paths)], why: describe(first) };
  const hook = await inHookFolder(places.flat(), takesFolders, disk);
  if (hook !== undefined) return { paths: [hook], why: `${hook} is in a folder of git hooks (core.hooksPath)` };
  const [folder] = places[0] ?? [];
  if (folder === undefined || !takesFolders) return undefined;
  // What is moved counts under its old name and under its new one.
  const underNames = [...new Set(places.flat())];
  const found = await disk.finding("steering", [folder, underNames], (files) => below(folder, underNames, files));
  return found === undefined ? undefined : { paths: [found], why: describe(found) };
}

/** The first of the paths that lies in a folder that the repository's configuration names for hooks, or holds one when `around`. */
async function inHookFolder(paths: readonly string[], around: boolean, disk: DiskView): Promise<string | undefined> {
  const named = await disk.finding("hook folders", [], async (files) => {
    const config = await files.read(".git/config", MAX_CONFIG_BYTES).catch((error: unknown) => {
      if (error instanceof EffectError && /^(?:NotFound|NotADirectory)$/.test(error.reason)) return Buffer.alloc(0);
      throw error;
    });
    const found = [...Buffer.from(config).toString("utf8").matchAll(HOOKS_PATH)].map(([, path = ""]) => path);
    return found.length === 0 ? undefined : found.join("\n");
  });
  const folders = (named ?? "").split("\n").flatMap((path) => {
    const inside = path === "" ? undefined : workspaceRelative(disk.root, path);
    return inside === undefined || inside === "." ? [] : [inside];
  });
  const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  return paths.find((path) => folders.some((folder) => isIn(path, folder) || (around && isIn(folder, path))));
}

function describe(path: string): string {
  const steering = steeringFile(path);
  return steering === undefined ? `${path} cannot be looked through for steering files` : `${path} is ${steering.why}`;
}

/** Where the entry stands, where it leads, and how it is written: a call may act on a link or on its target. */
async function placesOf(name: string, disk: DiskView): Promise<string[]> {
  const written = workspaceRelative(disk.root, name);
  const target = await disk.locate(name);
  if (target === written) return target === undefined ? [] : [target];
  const parent = await disk.locate(posix.dirname(name));
  const entry = parent === undefined ? undefined : posix.join(parent, posix.basename(name));
  return [...new Set([entry, target, written].filter((path) => path !== undefined))];
}

/** The first steering file in the folder under any of the names, or the folder itself when it cannot be looked through. */
async function below(folder: string, underNames: readonly string[], files: DiskReader): Promise<string | undefined> {
  const folders = ["."];
  let seen = 0;
  try {
    for (let inner = folders.pop(); inner !== undefined; inner = folders.pop()) {
      const place = posix.join(folder, inner);
      if (inner === "." && (await files.stat(place))?.kind !== "directory") return undefined;
      for (const { name, kind } of await files.list(place)) {
        seen += 1;
        if (seen > MAX_ENTRIES) return folder;
        const path = posix.join(inner, name);
        const steering = underNames.map((above) => posix.join(above, path)).find((full) => steeringFile(full));
        if (steering !== undefined) return steering;
        if (kind === "directory") folders.push(path);
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof EffectError) return folder;
    throw error;
  }
}
