/**
 * Which parts of a workspace undo looks at. Left out are trees that a tool can rebuild and that would cost more to watch
 * than all the rest; each one left out is named in the change set, so that undo can say what it does not know.
 */

/** Directories by name: installed packages and caches. */
const REBUILT_DIRECTORIES: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "__pycache__",
  ".pytest_cache",
  ".mypy_cache",
  ".ruff_cache",
  ".tox",
  ".gradle",
  ".next",
  ".nuxt",
  ".turbo",
  ".parcel-cache",
]);
/** The standard mark of a cache directory (bford.info/cachedir); Cargo's `target/` has one, for example. */
export const CACHE_MARK = "CACHEDIR.TAG";
const GIT_DIRECTORY = ".git";
/**
 * What of `.git` is covered: where branches point, and what changes how git behaves. Objects are only ever added, the
 * index is rewritten by every `git status`, and the reflog is the record of what happened: those stay as they are.
 */
const COVERED_IN_GIT: ReadonlySet<string> = new Set(["HEAD", "packed-refs", "refs", "config", "hooks", "info"]);

/** Why a directory is left out, or undefined when it is looked at. */
export function directoryLeftOut(name: string): string | undefined {
  return REBUILT_DIRECTORIES.has(name) ? "can be rebuilt" : undefined;
}

/** Names of a directory that are looked at. `leftOut` says why there are others. */
export function coveredNames(
  directoryName: string,
  names: readonly string[],
): { readonly names: readonly string[]; readonly leftOut?: string } {
  if (directoryName !== GIT_DIRECTORY || !names.includes("objects")) return { names };
  return {
    names: names.filter((name) => COVERED_IN_GIT.has(name)),
    leftOut: "undo covers only HEAD, refs, config, hooks and info of git's own files",
  };
}
