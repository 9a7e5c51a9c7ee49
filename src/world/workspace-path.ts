/**
 * Where a path really leads: symlinks resolved, also for what does not exist yet, and refused when that is outside the
 * workspace. It only looks; the swap between looking and opening is caught by `workspace-directory.ts`.
 */
import { realpathSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { basename, dirname, join, parse, relative, resolve, sep } from "node:path";
import { EffectError, errnoOf, fileError } from "#base";
import { isInside, realPathIfThere } from "./real-path.ts";

const MAX_LINKS = 40;
/** Longer ones no system opens. */
const MAX_PATH_CHARS = 4096;
const SHOWN_CHARS = 100;

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
  if (absolute.length > MAX_PATH_CHARS) {
    relativeTo(root, absolute, shown);
    throw new EffectError("NotFound", `${shown.slice(0, SHOWN_CHARS)}… has a name that is too long`);
  }
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
  const { parent, rest } = nearestParent(absolute);
  const [name = "", ...below] = rest;
  const entry = join(parent, name);
  const info = await lstat(entry).catch(() => undefined);
  if (!info?.isSymbolicLink()) return join(entry, ...below);
  if (links >= MAX_LINKS) throw new EffectError("AccessDenied", `${shown} leads through too many symbolic links`);
  return realTarget(root, resolve(parent, await readlink(entry), ...below), shown, links + 1);
}

/** The real path of the longest beginning that is there, and the parts behind it. In few looks, however many parts there are. */
function nearestParent(absolute: string): { readonly parent: string; readonly rest: readonly string[] } {
  const top = parse(absolute).root;
  const parts = absolute.slice(top.length).split(sep);
  let parent = top;
  let there = 0;
  let missing = parts.length;
  while (missing - there > 1) {
    const middle = Math.floor((there + missing) / 2);
    const real = realPathIfThere(top + parts.slice(0, middle).join(sep));
    if (real === undefined) missing = middle;
    else [there, parent] = [middle, real];
  }
  return { parent, rest: parts.slice(there) };
}

function relativeTo(root: string, real: string, shown: string): string {
  if (!isInside(root, real)) throw new EffectError("OutsideWorkspace", `${shown} is outside the workspace ${root}`);
  return relative(root, real) || ".";
}
