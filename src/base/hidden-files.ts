/**
 * The files of a workspace without some of them: what the program itself keeps there is not for tools, whatever the rules say. Nobody
 * reads or changes it, nor moves or removes a folder that holds it.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { EffectError, type FilePort } from "./ports.ts";
import { errnoOf } from "./thrown.ts";

/** `paths`: files and folders, absolute; those outside the workspace do not matter. */
export function hideFiles(files: FilePort, paths: readonly string[]): FilePort {
  const hidden = [...new Set(paths.map((path) => relative(files.root, realPath(path))).filter(isBelow))];
  if (hidden.length === 0) return files;

  /** `whole`: with all that is below it. */
  async function check(path: string, whole: boolean): Promise<void> {
    const real = await files.locate(path);
    // What acts on an entry acts on a link itself; both names count.
    const names = [real, relative(files.root, resolve(files.root, path))];
    const meets = hidden.some((own) => names.some((name) => isWithin(name, own) || (whole && isWithin(own, name))));
    if (meets) throw new EffectError("AccessDenied", `${path} belongs to the harness itself, and is not for tools`);
  }

  return {
    root: files.root,
    hidden,
    locate: (path) => files.locate(path),
    async stat(path) {
      await check(path, false);
      return files.stat(path);
    },
    async read(path, maxBytes) {
      await check(path, false);
      return files.read(path, maxBytes);
    },
    async list(path) {
      await check(path, false);
      return files.list(path);
    },
    async write(path, content) {
      await check(path, false);
      return files.write(path, content);
    },
    async makeDirectory(path) {
      await check(path, false);
      return files.makeDirectory(path);
    },
    async move(from, to) {
      await check(from, true);
      await check(to, false);
      return files.move(from, to);
    },
    async remove(path, options) {
      await check(path, true);
      return files.remove(path, options);
    },
  };
}

function isBelow(path: string): boolean {
  return path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** With links resolved, as far as it is there. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) return path;
    return join(realPath(dirname(path)), basename(path));
  }
}
