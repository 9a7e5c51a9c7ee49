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

/** A folder with more entries is not looked through, and changing it needs a person. */
const MAX_ENTRIES = 20_000;

/** Undefined when the call changes ordinary files only. */
export async function steeringChange(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  disk: DiskView,
  namedByGit: () => Promise<readonly string[]>,
): Promise<SteeringChange | undefined> {
  const names = namedPaths(tool, args);
  // Moving or removing a folder changes all that is in it.
  const takesFolders = pathArguments(tool).some(({ means }) => means === "entry");
  const places: string[][] = [];
  for (const name of names) places.push(await placesOf(name, disk));
  const paths = places.flatMap((found) => found.find((path) => steeringFile(path) !== undefined) ?? []);
  const [first] = paths;
  if (first !== undefined) return { paths: [...new Set(paths)], why: describe(first) };
  const named = await disk.finding("hook folders", [], async () => {
    const unusual = (await namedByGit()).filter((path) => steeringFile(path) === undefined);
    return unusual.length === 0 ? undefined : unusual.join("\n");
  });
  const obeyed = firstNamed(places.flat(), (named ?? "").split("\n"), takesFolders);
  if (obeyed !== undefined) return { paths: [obeyed], why: `${obeyed} is ${NAMED_BY_GIT}` };
  const [folder] = places[0] ?? [];
  if (folder === undefined || !takesFolders) return undefined;
  // What is moved counts under its old name and under its new one.
  const underNames = [...new Set(places.flat())];
  const found = await disk.finding("steering", [folder, underNames], (files) => below(folder, underNames, files));
  return found === undefined ? undefined : { paths: [found], why: describe(found) };
}

const NAMED_BY_GIT = "named by git's configuration (core.hooksPath, include.path), which can run programs";

/** The first of the paths that is one of the names or lies below one, or holds one when `around`. */
function firstNamed(paths: readonly string[], names: readonly string[], around: boolean): string | undefined {
  const isIn = (path: string, name: string): boolean => path === name || path.startsWith(`${name}/`);
  return paths.find((path) => names.some((name) => name !== "" && (isIn(path, name) || (around && isIn(name, path)))));
}

function describe(path: string): string {
  const steering = steeringFile(path);
  return steering === undefined ? `Harness cannot check ${path} for steering files` : `${path} is ${steering.why}`;
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
