/** One look at everything a project consists of on disk; what was seen before and has not changed is not read again. */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { isInside } from "#world";
import { type ReadFile, versionOf } from "./assemble.ts";
import { type FileContent, readFileContent } from "./file-content.ts";
import type { OptionalPlaces } from "./file-kinds.ts";
import type { HooksContent } from "./hook-files.ts";
import { defaultOptionalPlaces, scanOptional } from "./optional-look.ts";
import type { FileRecord } from "./parse-file.ts";
import type { Problem } from "./project.ts";
import {
  artifactFolders,
  displayPath,
  type FolderScan,
  findConfigs,
  isThere,
  type SourceFile,
  scanFolder,
  scanRoot,
} from "./project-files.ts";
import { error } from "./schema.ts";
import { type Stamp, stampOf, toStamp } from "./stamp.ts";

export interface ProjectPlaces {
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
  /** What the user chose about optional files. */
  readonly optional?: OptionalPlaces;
  /** Folders below the project that the agent works in. */
  readonly touched?: readonly string[];
  /** Nothing that the folder brings is read: the admin policy alone. */
  readonly adminOnly?: boolean;
}

export interface SeenFile extends ReadFile {
  readonly stamp: Stamp | undefined;
}

interface SeenFolder {
  readonly stamp: Stamp | undefined;
  readonly scan: FolderScan;
}

/** What one look at the disk gave. */
export interface Snapshot {
  readonly version: string;
  /** By path; a file of `context.files` has a key of its own, for it may be an artifact as well. */
  readonly files: ReadonlyMap<string, SeenFile>;
  readonly folders: ReadonlyMap<string, SeenFolder>;
  readonly problems: readonly Problem[];
}

/** What is in a file that was read. */
export type RecordOf = (source: SourceFile, content: FileContent) => FileRecord;

/** `root` is a real path. */
export function lookAtProject(
  root: string,
  places: ProjectPlaces,
  before: Snapshot | undefined,
  recordOf: RecordOf,
): Snapshot {
  const files = new Map<string, SeenFile>();
  const folders = new Map<string, SeenFolder>();
  const problems: Problem[] = [];

  function see(source: SourceFile, inside: string | undefined): SeenFile {
    const key = source.kind === "context" ? `context ${source.path}` : source.path;
    const known = files.get(key);
    if (known !== undefined) return known;
    const seen = seeFile(source, inside, before?.files.get(key), recordOf);
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

  const { adminOnly = false } = places;
  const config = adminOnly ? undefined : seeConfig();
  seeAdmin();
  for (const folder of adminOnly ? [] : artifactRoots(root, places, config?.record, problems)) {
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
    const { record } = see({ kind: "context", path, file: displayPath(root, path), inside: root }, root);
    // Where it is named is where somebody can do something about it.
    problems.push(
      ...record.problems.map((problem) => ({ ...problem, place, message: `${written}: ${problem.message}` })),
    );
  }
  if (!adminOnly) seeOptional();
  return { version: versionOf([...files.values()]), files, folders, problems };

  /** A file that the project names itself is an artifact of it. */
  function seeOptional(): void {
    const scan = scanOptional(root, places.optional ?? defaultOptionalPlaces, places.touched);
    problems.push(...scan.problems);
    for (const source of scan.files) {
      if (!files.has(`context ${source.path}`) && !files.has(source.path)) see(source, source.inside);
    }
    for (const { source, record } of [...files.values()]) {
      if (source.kind !== "hooks" || record.optional === undefined) continue;
      // The reader of this kind made it.
      const { hooks } = record.optional as HooksContent;
      for (const script of hooks.flatMap(({ scripts = [] }) => scripts)) {
        const path = join(root, script);
        const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
        if (isFile && !files.has(path)) see({ kind: "hookScript", path, file: script, inside: root }, root);
      }
    }
  }

  function seeConfig(): SeenFile | undefined {
    const paths = places.configFile === undefined ? findConfigs(root) : [resolve(root, places.configFile)];
    for (const path of paths.slice(1)) {
      const message = `The project also has ${displayPath(root, paths[0] ?? "")}. Remove one of the two.`;
      problems.push(error("second-config", { file: displayPath(root, path), line: 1, column: 1 }, message));
    }
    const [path] = paths;
    return path === undefined
      ? undefined
      : see({ kind: "config", path, file: displayPath(root, path), inside: root }, root);
  }

  function seeAdmin(): void {
    const { adminPolicy: path, adminPolicyRequired = false } = places;
    if (path === undefined) return;
    if (adminPolicyRequired || isThere(path))
      see({ kind: "admin", path: resolve(path), file: resolve(path), inside: "" }, undefined);
  }
}

function artifactRoots(
  root: string,
  places: ProjectPlaces,
  config: FileRecord | undefined,
  problems: Problem[],
): readonly string[] {
  const named = (config?.config?.artifactRoots ?? []).map(({ path, place }) => ({ path: join(root, path), place }));
  for (const { path, place } of named) {
    if (stampOf(path) === undefined) problems.push(error("file-not-found", place, "The folder does not exist."));
  }
  const extra = (places.extraRoots ?? []).map((path) => (isAbsolute(path) ? path : join(root, path)));
  return [...new Set([join(root, ".harness"), ...named.map(({ path }) => path), ...extra])];
}

/** The path as it really is. */
export function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it is not there: looking for files in it says so, or finds none
  }
}

function seeFile(
  source: SourceFile,
  inside: string | undefined,
  before: SeenFile | undefined,
  recordOf: RecordOf,
): SeenFile {
  if (before?.stamp !== undefined && !before.stamp.unsettled && before.source.kind === source.kind) {
    if ((source.stamp ?? stampOf(source.path))?.key === before.stamp.key) return before;
  }
  const outcome = readFileContent(source.path, source.file, inside);
  const stamp = outcome.stats && toStamp(outcome.stats);
  if ("problem" in outcome) return { source, stamp, record: unread(outcome.problem) };
  const { hash, bytes } = outcome.content;
  const isSame = before?.content?.hash === hash && before.source.kind === source.kind;
  return {
    source,
    stamp,
    content: { hash, bytes },
    record: isSame ? before.record : recordOf(source, outcome.content),
  };
}

function unread(problem: Problem): FileRecord {
  return { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [], problems: [problem] };
}
