/** The folder that a run works in: made for it, filled as the case says, and gone afterwards. */
import { copyFile, lstat, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { SetupFile } from "#artifacts";
import { messageOf } from "#base";
import { isInside, makeFolder } from "#world";

/** Of everything that is copied for one run. */
const MAX_COPIED_FILES = 5_000;
const MAX_COPIED_BYTES = 64 * 1024 * 1024;

export interface CaseFolder {
  readonly workspace: string;
  /** The path of a file beside the workspace, which no tool sees. */
  aside(name: string): string;
  putAside(name: string, text: string): Promise<string>;
  /** Takes a file out of the folder, to where it stays. */
  keep(file: string, target: string): Promise<void>;
  remove(): Promise<void>;
}

/** `sources`: folders that files may be copied from; what lies elsewhere is none of the case's business. */
export async function makeCaseFolder(
  files: readonly SetupFile[],
  casePath: string,
  sources: readonly string[],
): Promise<CaseFolder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "harness-eval-")));
  const workspace = join(root, "workspace");
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    await mkdir(workspace);
    const copied = { files: 0, bytes: 0 };
    for (const { path, content, place } of files) {
      const target = join(workspace, path);
      makeFolder(dirname(target));
      if ("text" in content) await writeFile(target, content.text);
      else {
        try {
          await copy(await sourceOf(content.from, casePath, sources), target, copied);
        } catch (error) {
          throw new Error(`${place.file}:${place.line}: ${path} cannot be copied: ${messageOf(error)}`, {
            cause: error,
          });
        }
      }
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    workspace,
    aside: (name) => join(root, name),
    async putAside(name, text) {
      const file = join(root, name);
      await writeFile(file, text);
      return file;
    },
    keep: (file, target) => copyFile(file, target),
    remove,
  };
}

async function sourceOf(from: string, casePath: string, sources: readonly string[]): Promise<string> {
  const real = await realpath(resolve(dirname(casePath), from));
  const roots = await Promise.all([dirname(casePath), ...sources].map((root) => realpath(root)));
  if (isAbsolute(from) || !roots.some((root) => isInside(root, real))) {
    throw new Error(`${from} is neither below the case nor below the current folder`);
  }
  return real;
}

async function copy(from: string, to: string, copied: { files: number; bytes: number }): Promise<void> {
  const info = await lstat(from);
  if (info.isDirectory()) {
    makeFolder(to);
    for (const name of (await readdir(from)).sort()) await copy(join(from, name), join(to, name), copied);
    return;
  }
  if (!info.isFile()) throw new Error(`${from} is neither a file nor a folder`);
  copied.files += 1;
  copied.bytes += info.size;
  if (copied.files > MAX_COPIED_FILES || copied.bytes > MAX_COPIED_BYTES) {
    throw new Error(`more than ${MAX_COPIED_FILES} files or ${MAX_COPIED_BYTES} bytes`);
  }
  await copyFile(from, to);
}
