/** Loads a project, and notices when its files change: by looking at all of them, which takes milliseconds and misses nothing. */
import { resolve } from "node:path";
import { assemble } from "./assemble.ts";
import { openParseCache, type ParseCache } from "./parse-cache.ts";
import type { FileRecord } from "./parse-file.ts";
import type { LoadedProject, ScriptChecker } from "./project.ts";
import type { SourceFile } from "./project-files.ts";
import { lookAtProject, type ProjectPlaces, type RecordOf, realOr, type Snapshot } from "./project-look.ts";

interface LoadOptions extends ProjectPlaces {
  /** Where findings are kept for the next process; used only with a version of the checks. */
  readonly cacheDir?: string;
  /** Names of the built-in tools. */
  readonly knownTools: readonly string[];
}

export interface ProjectLoaderOptions extends LoadOptions {
  readonly checker: ScriptChecker;
}

/** Neither throws because of a file. */
export interface ProjectLoader {
  load(): LoadedProject;
  /** Undefined when no file changed since the last load or refresh. */
  refresh(): LoadedProject | undefined;
}

export async function createProjectLoader(options: ProjectLoaderOptions): Promise<ProjectLoader> {
  // The parser of YAML is a large part of a start, and whoever only asks for settings needs none.
  const { parseFile } = await import("./parse-file.ts");
  const root = realOr(resolve(options.root));
  const { checker, knownTools } = options;
  const parse: RecordOf = ({ kind, file }, { hash, text }) => parseFile({ kind, file, hash, text }, checker);
  let last: Snapshot | undefined;

  return {
    load() {
      const cache = openCache(options, root, checker.version);
      let parsed = 0;
      last = lookAtProject(root, options, undefined, (source, content) => {
        const kept = keptRecord(cache, source, content.hash);
        if (kept === undefined) parsed++;
        return kept ?? parse(source, content);
      });
      if (parsed > 0) cache?.keep(recordsToKeep(last));
      return toLoaded(root, last, knownTools);
    },
    refresh() {
      const now = lookAtProject(root, options, last, parse);
      const changed = now.version !== last?.version;
      last = now;
      return changed ? toLoaded(root, now, knownTools) : undefined;
    },
  };
}

export interface LoadOnceOptions extends LoadOptions {
  /** The version of the checker, known without loading it. */
  readonly checkerVersion: string;
  readonly checker: () => Promise<ScriptChecker>;
}

/** Loads a project once. While everything is in the cache, neither a parser nor a checker is loaded: a start that counts in ms. */
export async function loadProject(options: LoadOnceOptions): Promise<LoadedProject> {
  const root = realOr(resolve(options.root));
  const cache = openCache(options, root, options.checkerVersion);
  let missed = 0;
  const quick = lookAtProject(root, options, undefined, (source, { hash }) => {
    const kept = keptRecord(cache, source, hash);
    if (kept === undefined) missed++;
    return kept ?? nothing;
  });
  if (missed === 0) return toLoaded(root, quick, options.knownTools);
  const checker = { ...(await options.checker()), version: options.checkerVersion };
  return (await createProjectLoader({ ...options, checker })).load();
}

const nothing: FileRecord = { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [], problems: [] };

function openCache({ cacheDir }: LoadOptions, root: string, version: string | undefined): ParseCache | undefined {
  return cacheDir === undefined || version === undefined ? undefined : openParseCache(cacheDir, root, version);
}

/** The admin policy is read anew every time: what is kept could be changed by somebody whom it is to hold back. */
function keptRecord(cache: ParseCache | undefined, source: SourceFile, hash: string): FileRecord | undefined {
  return source.kind === "admin" ? undefined : cache?.get(cacheKey(source, hash));
}

function toLoaded(root: string, { version, files, problems }: Snapshot, knownTools: readonly string[]): LoadedProject {
  return assemble({ root, version, files: [...files.values()], problems, knownTools });
}

function recordsToKeep({ files }: Snapshot): ReadonlyMap<string, FileRecord> {
  const kept = new Map<string, FileRecord>();
  for (const { source, content, record } of files.values()) {
    if (content !== undefined && source.kind !== "admin") kept.set(cacheKey(source, content.hash), record);
  }
  return kept;
}

/** The name is in it because places carry it. */
function cacheKey({ kind, file }: SourceFile, hash: string): string {
  return `${kind} ${file} ${hash}`;
}
