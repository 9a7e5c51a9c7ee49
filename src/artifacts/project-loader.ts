/** Loads a project and notices when its files change: by looking at all of them, which takes milliseconds, and misses nothing. */
import { realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { assemble, type ReadFile, versionOf } from "./assemble.ts";
import { type FileOutcome, isInside, readFileContent } from "./file-content.ts";
import { openParseCache, type ParseCache } from "./parse-cache.ts";
import { type FileRecord, parseFile } from "./parse-file.ts";
import type { LoadedProject, Problem, ScriptChecker } from "./project.ts";
import {
  artifactFolders,
  type FolderScan,
  findConfigs,
  isThere,
  type SourceFile,
  scanFolder,
  scanRoot,
  shownPath,
} from "./project-files.ts";
import { error } from "./schema.ts";
import { type Stamp, stampOf, toStamp } from "./stamp.ts";

export interface ProjectLoaderOptions {
  /** Folder of the project. */
  readonly root: string;
  /** The root file; absent: `harness.md`, `harness.yaml` or `harness.yml` in the root, or none. */
  readonly configFile?: string;
  /** The policy above the project; a file that is not there is no policy, unless it is required. */
  readonly adminPolicy?: string;
  /** The policy was named by somebody, so it has to be there. */
  readonly adminPolicyRequired?: boolean;
  /** Further folders that are read like `.harness`; they may be outside the project. */
  readonly extraRoots?: readonly string[];
  readonly checker: ScriptChecker;
  /** Where findings are kept for the next process; used only with a checker that has a version. */
  readonly cacheDir?: string;
  /** Names of the built-in tools. */
  readonly knownTools: readonly string[];
}

/** Neither throws because of a file. */
export interface ProjectLoader {
  load(): LoadedProject;
  /** Undefined when no file changed since the last load or refresh. */
  refresh(): LoadedProject | undefined;
}

interface SeenFile extends ReadFile {
  readonly stamp: Stamp | undefined;
}

interface SeenFolder {
  readonly stamp: Stamp | undefined;
  readonly scan: FolderScan;
}

/** What one look at the disk gave. */
interface Snapshot {
  readonly version: string;
  /** By path; a file of `context.files` has a key of its own, for it may be an artifact as well. */
  readonly files: ReadonlyMap<string, SeenFile>;
  readonly folders: ReadonlyMap<string, SeenFolder>;
  readonly problems: readonly Problem[];
}

export async function createProjectLoader(options: ProjectLoaderOptions): Promise<ProjectLoader> {
  const root = realOr(resolve(options.root));
  const { checker, knownTools } = options;
  let cache: ParseCache | undefined;
  let last: Snapshot | undefined;

  function look(before: Snapshot | undefined): { readonly snapshot: Snapshot; readonly parsed: number } {
    const files = new Map<string, SeenFile>();
    const folders = new Map<string, SeenFolder>();
    const problems: Problem[] = [];
    let parsed = 0;

    function see(source: SourceFile, inside: string | undefined): SeenFile {
      const key = source.kind === "context" ? `context ${source.path}` : source.path;
      const known = files.get(key);
      if (known !== undefined) return known;
      const seen = seeFile(source, inside, before?.files.get(key), (outcome) => {
        const { record, isNew } = recordOf(source, outcome);
        if (isNew) parsed++;
        return record;
      });
      files.set(key, seen);
      return seen;
    }

    function seeFolder(folder: string, scan: () => FolderScan): FolderScan {
      const known = before?.folders.get(folder);
      const stamp = stampOf(folder);
      const same = known?.stamp !== undefined && known.stamp.key === stamp?.key && !known.stamp.unsettled;
      const seen = same ? known : { stamp, scan: scan() };
      folders.set(folder, seen);
      problems.push(...seen.scan.problems);
      return seen.scan;
    }

    const config = seeConfig();
    seeAdmin();
    for (const folder of artifactRoots(config?.record, problems)) {
      const inside = isInside(root, folder) ? root : realOr(folder);
      seeFolder(folder, () => ({ files: [], problems: scanRoot(root, folder) }));
      for (const [name, kind] of Object.entries(artifactFolders)) {
        const path = join(folder, name);
        const { files: found } = seeFolder(path, () => scanFolder(root, inside, path, kind));
        for (const source of found) see(source, source.inside);
      }
    }
    for (const { path: written, place } of [...files.values()].flatMap(({ record }) => record.contextFiles)) {
      const path = join(root, written);
      const { record } = see({ kind: "context", path, file: shownPath(root, path), inside: root }, root);
      // Where it is named is where somebody can do something about it.
      problems.push(
        ...record.problems.map((problem) => ({ ...problem, place, message: `${written}: ${problem.message}` })),
      );
    }
    return { snapshot: { version: versionOf([...files.values()]), files, folders, problems }, parsed };

    function seeConfig(): SeenFile | undefined {
      const paths = options.configFile === undefined ? findConfigs(root) : [resolve(root, options.configFile)];
      for (const path of paths.slice(1)) {
        const message = `There is also ${shownPath(root, paths[0] ?? "")}; one of the two has to go.`;
        problems.push(error("second-config", { file: shownPath(root, path), line: 1, column: 1 }, message));
      }
      const [path] = paths;
      return path === undefined
        ? undefined
        : see({ kind: "config", path, file: shownPath(root, path), inside: root }, root);
    }

    function seeAdmin(): void {
      const { adminPolicy: path, adminPolicyRequired = false } = options;
      if (path === undefined) return;
      if (adminPolicyRequired || isThere(path))
        see({ kind: "admin", path: resolve(path), file: resolve(path), inside: "" }, undefined);
    }
  }

  function artifactRoots(config: FileRecord | undefined, problems: Problem[]): readonly string[] {
    const named = (config?.config?.artifactRoots ?? []).map(({ path, place }) => ({ path: join(root, path), place }));
    for (const { path, place } of named) {
      if (stampOf(path) === undefined) problems.push(error("file-not-found", place, "There is no such folder."));
    }
    const extra = (options.extraRoots ?? []).map((path) => (isAbsolute(path) ? path : join(root, path)));
    return [...new Set([join(root, ".harness"), ...named.map(({ path }) => path), ...extra])];
  }

  function recordOf(
    source: SourceFile,
    outcome: FileOutcome,
  ): { readonly record: FileRecord; readonly isNew: boolean } {
    if ("problem" in outcome) return { record: unread(outcome.problem), isNew: false };
    const { hash, text } = outcome.content;
    const kept = source.kind === "admin" ? undefined : cache?.get(cacheKey(source, hash));
    if (kept !== undefined) return { record: kept, isNew: false };
    return { record: parseFile({ kind: source.kind, file: source.file, hash, text }, checker), isNew: true };
  }

  function toLoaded({ version, files, problems }: Snapshot): LoadedProject {
    return assemble({ root, version, files: [...files.values()], problems, knownTools });
  }

  return {
    load() {
      if (options.cacheDir !== undefined && checker.version !== undefined) {
        cache = openParseCache(options.cacheDir, root, checker.version);
      }
      const { snapshot, parsed } = look(undefined);
      if (parsed > 0) cache?.keep(recordsToKeep(snapshot));
      // From here on the snapshot itself has what the cache had.
      cache = undefined;
      last = snapshot;
      return toLoaded(snapshot);
    },
    refresh() {
      const { snapshot } = look(last);
      const changed = snapshot.version !== last?.version;
      last = snapshot;
      return changed ? toLoaded(snapshot) : undefined;
    },
  };
}

function seeFile(
  source: SourceFile,
  inside: string | undefined,
  before: SeenFile | undefined,
  parse: (outcome: FileOutcome) => FileRecord,
): SeenFile {
  if (before?.stamp !== undefined && !before.stamp.unsettled && before.source.kind === source.kind) {
    if (stampOf(source.path)?.key === before.stamp.key) return before;
  }
  const outcome = readFileContent(source.path, source.file, inside);
  const stamp = outcome.stats && toStamp(outcome.stats);
  if ("problem" in outcome) return { source, stamp, record: parse(outcome) };
  const { hash, bytes } = outcome.content;
  const isSame = before?.content?.hash === hash && before.source.kind === source.kind;
  return { source, stamp, content: { hash, bytes }, record: isSame ? before.record : parse(outcome) };
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

function unread(problem: Problem): FileRecord {
  return { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [], problems: [problem] };
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it is not there: looking for files in it says so, or finds none
  }
}
