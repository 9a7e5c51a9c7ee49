/**
 * Where a path really leads: symlinks resolved, also for what does not exist yet, and refused when that is outside the
 * workspace. It only looks; the swap between looking and opening is caught by `workspace-directory.ts`.
 */
import { realpathSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileError } from "./file-error.ts";
import { EffectError } from "./ports.ts";
import { errnoOf } from "./thrown.ts";

const MAX_LINKS = 40;

/**
 * The real path relative to the real `root` ("." for the root), which holds no symlink at this moment. `follow: false`
 * leaves a symlink in the last place as it is, for calls that act on the entry; where it leads is checked all the same.
 */
export async function resolveInWorkspace(
  root: string,
  path: string,
  options: { readonly follow: boolean } = { follow: true },
): Promise<string> {
  if (path.includes("\0")) throw new EffectError("OutsideWorkspace", "a path must not contain a NUL byte");
  const absolute = resolve(root, path);
  const target = relativeTo(root, await realTarget(root, absolute, path, 0), path);
  if (options.follow || absolute === root) return target;
  return relativeTo(root, join(await realTarget(root, dirname(absolute), path, 0), basename(absolute)), path);
}

/** The real path of the nearest ancestor that exists, plus the rest; a dangling link counts as what it points to. */
async function realTarget(root: string, absolute: string, shown: string, links: number): Promise<string> {
  try {
    // One short system call: the way through the thread pool costs ten times as much as the call.
    return realpathSync.native(absolute);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") {
      // What cannot be looked at outside is simply outside: the difference is nobody's business in here.
      relativeTo(root, absolute, shown);
      throw fileError(error, shown);
    }
  }
  const parent = await realTarget(root, dirname(absolute), shown, links);
  const entry = join(parent, basename(absolute));
  const info = await lstat(entry).catch(() => undefined);
  if (!info?.isSymbolicLink()) return entry;
  if (links >= MAX_LINKS) throw new EffectError("AccessDenied", `${shown} leads through too many symbolic links`);
  return realTarget(root, resolve(parent, await readlink(entry)), shown, links + 1);
}

function relativeTo(root: string, real: string, shown: string): string {
  const path = relative(root, real);
  if (path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)) {
    throw new EffectError("OutsideWorkspace", `${shown} is outside the workspace ${root}`);
  }
  return path === "" ? "." : path;
}
