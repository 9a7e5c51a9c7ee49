/**
 * The files that this program was started from. An upgrade or a build replaces them while a daemon runs, and what it has not loaded
 * yet is then gone. So copies are kept, from which it still loads, and whoever holds them is told that the program on disk is another
 * one. Ends nothing by itself.
 */
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { type LoadHookSync, type ResolveHookSync, registerHooks } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { deflateRaw, inflateRawSync } from "node:zlib";
import { type Clock, errnoOf } from "#base";
import { ReasonError } from "#protocol";

const LOOK_EVERY_MS = 5_000;
/** While files are replaced they are not there; those of the same build may come back. */
const MISSING_LOOKS = 6;
/** Of copies, as they are on disk: several times what a build has. A file beyond it is not kept. */
const KEPT_MAX_BYTES = 32 * 1024 * 1024;

export const UPDATED_TEXT = "harness was updated while this daemon was running";

export interface ProgramFilesOptions {
  /** The file of the program that runs: of a bundle one whose name is in `main.js` of its build and of no other. */
  readonly entry: string;
  readonly clock: Pick<Clock, "sleep">;
  /** Called once. */
  readonly onReplaced: (how: "replaced" | "removed") => void;
}

export interface ProgramFiles {
  /** Nobody is told any more. The copies stay for what the end of the program loads. */
  stop(): void;
}

/** Resolves when the copies are made. A program that runs from source has none, and no build to compare with. */
export async function holdProgramFiles({ entry, clock, onReplaced }: ProgramFilesOptions): Promise<ProgramFiles> {
  const stopped = new AbortController();
  if (extname(entry) !== ".js") return { stop: () => undefined };
  const kept: Copies = new Map();

  function replaced(how: "replaced" | "removed"): void {
    if (stopped.signal.aborted) return;
    stopped.abort();
    onReplaced(how);
  }

  async function watch(): Promise<void> {
    for (let missing = 0; missing < MISSING_LOOKS; ) {
      await clock.sleep(LOOK_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) return;
      const found = buildOnDisk(entry);
      if (found === "other") return replaced("replaced");
      missing = found === "missing" ? missing + 1 : 0;
    }
    replaced("removed");
  }

  void watch();
  registerHooks(loadingFrom(dirname(entry), kept, () => replaced("replaced")));
  await copyInto(kept, dirname(entry));
  return { stop: () => stopped.abort() };
}

/** By URL. */
type Copies = Map<string, { readonly bytes: Buffer; readonly isPacked: boolean }>;

/** Reads all of them first: an update may be under way. Then they are compressed, because few of them are ever needed. */
async function copyInto(copies: Copies, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  let size = 0;
  await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      // One that has gone by now is missed when it is loaded, and then told.
      const bytes = await readFile(file).catch(() => undefined);
      if (bytes === undefined || size + bytes.length > KEPT_MAX_BYTES) return;
      size += bytes.length;
      copies.set(pathToFileURL(file).href, { bytes, isPacked: false });
    }),
  );
  for (const [url, { bytes }] of [...copies]) {
    copies.set(url, { bytes: await promisify(deflateRaw)(bytes, { level: 1 }), isPacked: true });
  }
}

function buildOnDisk(entry: string): "same" | "other" | "missing" {
  try {
    const main = readFileSync(join(dirname(entry), "main.js"), "utf8");
    return main.includes(basename(entry)) ? "same" : "other";
  } catch (error) {
    // Whatever else keeps it from being read says nothing about the build.
    return errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR" ? "missing" : "same";
  }
}

/** Asks Node first: a file with the name of a build is of that build. */
function loadingFrom(
  folder: string,
  kept: Readonly<Copies>,
  onMissing: () => void,
): { readonly resolve: ResolveHookSync; readonly load: LoadHookSync } {
  return {
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        const url = ownUrl(folder, specifier, context.parentURL);
        if (url === undefined) throw error;
        onMissing();
        if (kept.has(url)) return { url, format: "module", shortCircuit: true };
        throw ReasonError.withMessage("ShuttingDown", `${UPDATED_TEXT} and ends now. Try again with the new one.`, {
          cause: error,
        });
      }
    },
    load(url, context, next) {
      const copy = kept.get(url);
      if (copy === undefined || existsSync(fileURLToPath(url))) return next(url, context);
      const source = copy.isPacked ? inflateRawSync(copy.bytes) : copy.bytes;
      return { format: "module", source, shortCircuit: true };
    },
  };
}

/** Of a file beside the one that imports it, in the folder of the program. */
function ownUrl(folder: string, specifier: string, parent: string | undefined): string | undefined {
  if (parent === undefined || !/^\.?\//.test(specifier)) return undefined;
  const url = URL.parse(specifier, parent);
  return url?.protocol === "file:" && dirname(fileURLToPath(url)) === folder ? url.href : undefined;
}
