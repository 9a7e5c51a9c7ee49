/** Under which names a program can be started: in the folders of the system, on the search path, and by hard links in them. */
import { readdirSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import type { Clock } from "#base";
import { realPathIfThere } from "#world";

const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** Programs that are many programs: whoever masks one of its names would mask all of them. */
const MANY_PROGRAMS = new Set(["busybox", "coreutils", "rustup", "toybox"]);
/** Programs are installed while a session runs, though seldom. */
const LISTED_MS = 60_000;
/** Of one folder; those of a system have a few thousand. */
const MAX_LISTED = 20_000;

/** Every file that runs under a name; `path` is the search path. */
export function createProgramPaths(path: string, clock: Clock): (name: string) => string[] {
  const folders = [...new Set([...SYSTEM_FOLDERS, ...path.split(":").filter(isAbsolute)])];
  let listed: { readonly linked: ReadonlyMap<string, readonly string[]>; readonly atMs: number } | undefined;
  const sameFile = (file: string): readonly string[] => {
    const id = linkedId(file);
    if (id === undefined) return [file];
    const nowMs = clock.monotonicMs();
    if (listed === undefined || nowMs - listed.atMs >= LISTED_MS)
      listed = { linked: linkedPrograms(folders), atMs: nowMs };
    const names = [...new Set([file, ...(listed.linked.get(id) ?? [])])];
    return names.some((name) => MANY_PROGRAMS.has(basename(name))) ? [file] : names;
  };
  return (name) => {
    if (name.includes("/") && !isAbsolute(name)) return [];
    const named = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
    const found = [...new Set(named.flatMap((file) => realPathIfThere(file) ?? []))];
    const programs = isAbsolute(name) ? found : found.filter((file) => !MANY_PROGRAMS.has(basename(file)));
    return [...new Set(programs.flatMap(sameFile))];
  };
}

/** Files that have more than one name, by what tells files apart. */
function linkedPrograms(folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const linked = new Map<string, string[]>();
  for (const folder of new Set(folders.flatMap((name) => realPathIfThere(name) ?? []))) {
    for (const name of namesIn(folder)) {
      const file = join(folder, name);
      const id = linkedId(file);
      if (id !== undefined) linked.set(id, [...(linked.get(id) ?? []), file]);
    }
  }
  return linked;
}

/** A link of another kind leads to a file that is listed, or is masked, itself. */
function namesIn(folder: string): string[] {
  try {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return files.slice(0, MAX_LISTED).map(({ name }) => name);
  } catch {
    // A folder that cannot be listed hides its names from commands as well, which have the same rights.
    return [];
  }
}

/** Undefined for a file that has one name, or is not there. */
function linkedId(file: string): string | undefined {
  const info = statSync(file, { throwIfNoEntry: false, bigint: true });
  return info === undefined || info.nlink < 2n ? undefined : `${info.dev}:${info.ino}`;
}
