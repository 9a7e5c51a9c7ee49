/** What a program's name means on this machine right now, so that it can be told later whether it still means the same. */
import { createHash } from "node:crypto";
import { constants, realpathSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { canonicalHash, EffectError, fileError, type ProgramFacts } from "#base";
import { childEnvironment } from "./child-environment.ts";

/** More than any program has. */
const MAX_HASHED_BYTES = 2 * 1024 ** 3;
const CHUNK_BYTES = 1024 ** 2;

export interface FoundProgram {
  /** Absolute, as the name leads to it. */
  readonly path: string;
  /** Without symbolic links. */
  readonly real: string;
}

/** As a command in the workspace finds it: a name in the search path without the workspace, a path from the workspace. */
export function findProgram(
  name: string,
  { root, env }: { readonly root: string; readonly env: Readonly<Record<string, string | undefined>> },
): FoundProgram | undefined {
  const folders = name.includes("/")
    ? [isAbsolute(name) ? "/" : root]
    : (childEnvironment(env, root).PATH ?? "").split(":");
  for (const folder of folders) {
    const path = join(folder, name);
    const found = identify(path);
    if (found !== undefined) return { path, real: found.real };
  }
  return undefined;
}

/** Hex. Rejects with an EffectError when it is not a file that can be read. */
export async function fileSha256(path: string): Promise<string> {
  try {
    // Whoever put a pipe there would keep us waiting.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await contentSha256(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

async function contentSha256(file: FileHandle, path: string): Promise<string> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new EffectError("NotAFile", `${path} is not a file`);
  if (stats.size > MAX_HASHED_BYTES) throw new EffectError("TooLarge", `${path} is too large for a program`);
  const hash = createHash("sha256");
  // One buffer for all: interpreters have a hundred megabytes.
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let left = MAX_HASHED_BYTES; left > 0; ) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(left, CHUNK_BYTES));
    if (bytesRead === 0) break;
    hash.update(chunk.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return hash.digest("hex");
}

export function createProgramFacts(options: {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): ProgramFacts {
  const environment = (): Record<string, string> => childEnvironment(options.env, options.root);
  return {
    program(name, cwd) {
      const named = name.includes("/") && !isAbsolute(name) ? join(options.root, cwd, name) : name;
      const found = findProgram(named, options);
      return (found && identify(found.path)?.facts) ?? "absent";
    },
    environment: () => canonicalHash(environment()),
  };
}

function identify(path: string): { readonly real: string; readonly facts: string } | undefined {
  try {
    const real = realpathSync(path);
    const { dev, ino, size, mtimeNs, ctimeNs, mode } = statSync(real, { bigint: true });
    if ((mode & 0o111n) === 0n) return undefined;
    return { real, facts: `${real} ${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}` };
  } catch {
    return undefined; // not there, or not to be seen: the name does not mean this file
  }
}
