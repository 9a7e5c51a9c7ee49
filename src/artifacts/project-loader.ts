/** Loads a project, and notices when its files change: by looking at all of them, which takes milliseconds and misses nothing. */
import { resolve } from "node:path";
import { builtinToolNames } from "#tools";
import { assemble, type ReadFile } from "./assemble.ts";
import { type CachePlace, openParseCache, type ParseCache } from "./parse-cache.ts";
import type { FileRecord } from "./parse-file.ts";
import type { AwaitingFile, JudgedFile, LoadedProject, Problem, ScriptChecker, TrustPort } from "./project.ts";
import type { SourceFile } from "./project-files.ts";
import { lookAtProject, type ProjectPlaces, type RecordOf, realOr, type Snapshot } from "./project-look.ts";
import { error } from "./schema.ts";

interface LoadOptions extends ProjectPlaces {
  /** Where findings are kept for the next process; used only with a version of the checks. */
  readonly cache?: CachePlace;
  /** Names of the built-in tools. */
  readonly knownTools: readonly string[];
  /** Asked about every version of the files before it takes effect. */
  readonly trust: TrustPort;
}

export interface ProjectLoaderOptions extends LoadOptions {
  readonly checker: ScriptChecker;
}

/** Neither throws because of a file. */
export interface ProjectLoader {
  load(): LoadedProject;
  /** Undefined when no file changed since the last load or refresh, and none that waited has got its ack. */
  refresh(): LoadedProject | undefined;
}

/** For whoever only looks at a project: nothing of what is loaded so takes effect. */
export const trustsAll: TrustPort = { judge: () => [] };

export async function createProjectLoader(options: ProjectLoaderOptions): Promise<ProjectLoader> {
  // The parser of YAML is a large part of a start, and whoever only asks for settings needs none.
  const { readRecord, checkRecord } = await import("./parse-file.ts");
  const root = realOr(resolve(options.root));
  const { checker, knownTools, trust } = options;
  const read: RecordOf = ({ kind, file }, { hash, text }) => readRecord({ kind, file, hash, text });
  /** By what was read: the same with what the checker found, which is asked once. */
  const checked = new WeakMap<FileRecord, FileRecord>();
  let last: Snapshot | undefined;
  let isAwaiting = false;

  function withChecks(file: ReadFile): ReadFile {
    const known = checked.get(file.record) ?? checkRecord(file.record, checker);
    checked.set(file.record, known);
    return { ...file, record: known };
  }

  function loaded(snapshot: Snapshot): LoadedProject {
    const awaiting = trust.judge(judgedFiles(snapshot));
    isAwaiting = awaiting.length > 0;
    const files = [...snapshot.files.values()];
    if (!isAwaiting) return toLoaded(root, snapshot, files.map(withChecks), knownTools);
    // What is broken as it is written is told first: nobody is asked to agree to it.
    const unchecked = toLoaded(root, snapshot, files, knownTools);
    if (unchecked.project === undefined) return unchecked;
    return { problems: [...awaiting.map(awaitingProblem), ...unchecked.problems], awaiting };
  }

  return {
    load() {
      const cache = openCache(options, root, checker.version);
      let parsed = 0;
      const now = lookAtProject(root, options, undefined, (source, content) => {
        const kept = keptRecord(cache, source, content.hash);
        if (kept === undefined) parsed++;
        else checked.set(kept, kept);
        return kept ?? read(source, content);
      });
      last = now;
      const result = loaded(now);
      if (parsed > 0 && !isAwaiting) cache?.keep(recordsToKeep([...now.files.values()].map(withChecks)));
      return result;
    },
    refresh() {
      const now = lookAtProject(root, options, last, read);
      const changed = now.version !== last?.version;
      last = now;
      if (!changed && !isAwaiting) return undefined;
      const result = loaded(now);
      return changed || !isAwaiting ? result : undefined;
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
  if (missed === 0 && options.trust.judge(judgedFiles(quick)).length === 0) {
    return toLoaded(root, quick, [...quick.files.values()], options.knownTools);
  }
  const checker = { ...(await options.checker()), version: options.checkerVersion };
  return (await createProjectLoader({ ...options, checker })).load();
}

export interface ProjectSurvey {
  /** The real path of the project. */
  readonly root: string;
  readonly files: readonly JudgedFile[];
  /** What is wrong with how the files are written; their scripts were not looked at. */
  readonly problems: readonly Problem[];
}

/** Which files a project consists of, and nothing more: no script of theirs is compiled or run. */
export async function surveyProject(places: ProjectPlaces): Promise<ProjectSurvey> {
  const { readRecord } = await import("./parse-file.ts");
  const root = realOr(resolve(places.root));
  const snapshot = lookAtProject(root, places, undefined, ({ kind, file }, { hash, text }) =>
    readRecord({ kind, file, hash, text }),
  );
  const { problems } = toLoaded(root, snapshot, [...snapshot.files.values()], builtinToolNames);
  return { root, files: judgedFiles(snapshot), problems };
}

const nothing: FileRecord = { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [], problems: [] };

/** Each file once, also where it is an artifact and part of the context. */
function judgedFiles({ files }: Snapshot): readonly JudgedFile[] {
  const judged = new Map<string, JudgedFile>();
  for (const { source, content } of files.values()) {
    const { kind, file } = source;
    if (kind === "admin" || content === undefined || judged.has(file)) continue;
    judged.set(file, { file, kind, hash: content.hash });
  }
  return [...judged.values()];
}

function awaitingProblem({ file, change }: AwaitingFile): Problem {
  const what = {
    new: "The file is new",
    changed: "The file changed since its last ack",
    removed: "The file was removed",
  };
  const message = `${what[change]} and needs your ack. Review it with: harness ack.`;
  return error("needs-ack", { file, line: 1, column: 1 }, message);
}

function openCache(options: LoadOptions, root: string, version: string | undefined): ParseCache | undefined {
  const { cache } = options;
  return cache === undefined || version === undefined ? undefined : openParseCache(cache, root, version);
}

/** The admin policy is read anew every time: what is kept could be changed by somebody whom it is to hold back. */
function keptRecord(cache: ParseCache | undefined, source: SourceFile, hash: string): FileRecord | undefined {
  return source.kind === "admin" ? undefined : cache?.get(cacheKey(source, hash));
}

function toLoaded(
  root: string,
  { version, problems }: Snapshot,
  files: readonly ReadFile[],
  knownTools: readonly string[],
): LoadedProject {
  return assemble({ root, version, files, problems, knownTools });
}

function recordsToKeep(files: readonly ReadFile[]): ReadonlyMap<string, FileRecord> {
  const kept = new Map<string, FileRecord>();
  for (const { source, content, record } of files) {
    if (content !== undefined && source.kind !== "admin") kept.set(cacheKey(source, content.hash), record);
  }
  return kept;
}

/** The name is in it because places carry it. */
function cacheKey({ kind, file }: SourceFile, hash: string): string {
  return `${kind} ${file} ${hash}`;
}
