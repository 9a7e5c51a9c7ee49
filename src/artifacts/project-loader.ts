/** Loads a project, and notices when its files change: by looking at all of them, which takes milliseconds and misses nothing. */
import { basename, dirname, join, resolve } from "node:path";
import { builtinToolNames } from "#tools";
import { assemble, type ReadFile, versionOf } from "./assemble.ts";
import { isOptionalKind } from "./file-kinds.ts";
import { createOptionalChoice, isBrokenOptional, type OptionalChoice } from "./optional-choice.ts";
import { foldersBelow } from "./optional-look.ts";
import { type CachePlace, openParseCache, type ParseCache } from "./parse-cache.ts";
import type { FileRecord } from "./parse-file.ts";
import type {
  AwaitingFile,
  JudgedFile,
  Judgement,
  LoadedProject,
  Problem,
  ScriptChecker,
  TrustPort,
} from "./project.ts";
import type { SourceFile } from "./project-files.ts";
import { lookAtProject, type ProjectPlaces, type RecordOf, realOr, type Snapshot } from "./project-look.ts";
import { error } from "./schema.ts";

/** In which context files are looked for at each step; a session that works in more does without those of the later ones. */
const MAX_TOUCHED_FOLDERS = 500;

interface LoadOptions extends ProjectPlaces {
  /** Where findings are kept for the next process; used only with a version of the checks. */
  readonly cache?: CachePlace;
  /** Names of the built-in tools. */
  readonly knownTools: readonly string[];
  /** Asked about every version of the files before it takes effect. */
  readonly trust: TrustPort;
  /** An optional file that waits is left out of the first load as well: nothing takes effect, somebody only looks. */
  readonly mayWait?: boolean;
}

export interface ProjectLoaderOptions extends LoadOptions {
  readonly checker: ScriptChecker;
}

/** Neither throws because of a file. */
export interface ProjectLoader {
  load(): LoadedProject;
  /** Undefined when no file changed since the last load or refresh, and none that waited has got its answer. */
  refresh(): LoadedProject | undefined;
  /** The agent works on this file: from the next refresh on, context files of its folders below the project are read as well. */
  touch(path: string): void;
}

/** For whoever only looks at a project: nothing of what is loaded so takes effect. */
export const trustsAll: TrustPort = { judge: () => ({ awaiting: [], denied: [] }) };

export async function createProjectLoader(options: ProjectLoaderOptions): Promise<ProjectLoader> {
  // The parser of YAML is a large part of a start, and whoever only asks for settings needs none.
  const { readRecord, checkRecord } = await import("./parse-file.ts");
  const root = realOr(resolve(options.root));
  const { checker, knownTools, trust } = options;
  const read: RecordOf = ({ kind, file }, { hash, text }) => readRecord({ kind, file, hash, text });
  /** By what was read: the same with what the checker found, which is asked once. */
  const checked = new WeakMap<FileRecord, FileRecord>();
  const choose = createOptionalChoice();
  const touched = new Set<string>();
  let last: Snapshot | undefined;
  /** A file waits for an answer, */
  let isPending = false;
  /** and holds up the project. */
  let isAwaiting = false;
  /** What was answered at the last look. */
  let answers = "";

  function withChecks(file: ReadFile): ReadFile {
    const known = checked.get(file.record) ?? checkRecord(file.record, checker);
    checked.set(file.record, known);
    return { ...file, record: known };
  }

  function loaded(snapshot: Snapshot, judgement: Judgement, isFirst: boolean): LoadedProject {
    const { awaiting } = judgement;
    const choice = choose([...snapshot.files.values()], judgement);
    const nested = new Set(nestedFiles(snapshot));
    const asProblem = (file: AwaitingFile): Problem => awaitingProblem(file, nested.has(file.file));
    isPending = awaiting.length > 0;
    isAwaiting = awaiting.some(({ kind }) => isFirst || !isOptionalKind(kind));
    if (!isAwaiting) {
      const checked = toLoaded(root, snapshot, { ...choice, files: choice.files.map(withChecks) }, knownTools);
      if (awaiting.length === 0) return checked;
      const told = awaiting.map((file): Problem => ({ ...asProblem(file), severity: "warning" }));
      return { ...checked, problems: [...told, ...checked.problems], awaiting };
    }
    // What is broken as it is written is told first: nobody is asked to agree to it.
    const unchecked = toLoaded(root, snapshot, choice, knownTools);
    if (unchecked.project === undefined) return unchecked;
    return { problems: [...awaiting.map(asProblem), ...unchecked.problems], awaiting };
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
      const judgement = trust.judge(judgedFiles(now));
      answers = answersOf(judgement);
      const result = loaded(now, judgement, options.mayWait !== true);
      if (parsed > 0 && !isAwaiting) cache?.keep(recordsToKeep([...now.files.values()].map(withChecks)));
      return result;
    },
    refresh() {
      const now = lookAtProject(root, { ...options, touched: [...touched] }, last, read);
      const changed = now.version !== last?.version;
      last = now;
      if (!changed && !isPending) return undefined;
      const judgement = trust.judge(judgedFiles(now));
      const isAnswered = answersOf(judgement) !== answers;
      answers = answersOf(judgement);
      return changed || isAnswered ? loaded(now, judgement, false) : undefined;
    },
    touch(path) {
      for (const folder of foldersBelow(root, realPlace(resolve(root, path)))) {
        if (touched.size < MAX_TOUCHED_FOLDERS) touched.add(folder);
      }
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
  const judgement = missed === 0 ? options.trust.judge(judgedFiles(quick)) : undefined;
  if (judgement !== undefined && (judgement.awaiting.length === 0 || options.mayWait === true)) {
    const choice = createOptionalChoice()([...quick.files.values()], judgement);
    return toLoaded(root, quick, choice, options.knownTools);
  }
  const checker = { ...(await options.checker()), version: options.checkerVersion };
  return (await createProjectLoader({ ...options, checker })).load();
}

export interface ProjectSurvey {
  /** The real path of the project. */
  readonly root: string;
  readonly files: readonly JudgedFile[];
  /** Which of them are context files of folders below the project. */
  readonly nested: readonly string[];
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
  const choice = createOptionalChoice()([...snapshot.files.values()], { awaiting: [], denied: [] });
  const { problems } = toLoaded(root, snapshot, choice, builtinToolNames);
  return { root, files: judgedFiles(snapshot), nested: nestedFiles(snapshot), problems };
}

const nothing: FileRecord = { tools: [], hooks: [], agents: [], bundles: [], contextFiles: [], problems: [] };

/** Each file once, also where it is an artifact and part of the context. */
function judgedFiles({ files }: Snapshot): readonly JudgedFile[] {
  const judged = new Map<string, JudgedFile>();
  for (const seen of files.values()) {
    const { source, content } = seen;
    const { kind, file } = source;
    if (kind === "admin" || content === undefined || judged.has(file) || isBrokenOptional(seen)) continue;
    judged.set(file, { file, kind, hash: content.hash });
  }
  return [...judged.values()];
}

/** Changes when somebody answered, of artifacts when all are. */
function answersOf({ awaiting, denied }: Judgement): string {
  const optional = awaiting.filter(({ kind }) => isOptionalKind(kind)).map(({ file }) => file);
  return JSON.stringify([awaiting.length > optional.length, optional, denied]);
}

/** Context files of folders below the project. */
function nestedFiles({ files }: Snapshot): readonly string[] {
  return [...files.values()].flatMap(({ source }) => (source.isNested === true ? [source.file] : []));
}

function awaitingProblem({ file, change }: AwaitingFile, isNested: boolean): Problem {
  const what = {
    new: "The file is new",
    changed: "The file changed since its last ack",
    removed: "The file was removed",
  };
  const message = `${what[change]} and needs your ack. Review it with: harness ack${isNested ? " --nested" : ""}.`;
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
  { problems }: Snapshot,
  { files, leftOut, problems: left }: OptionalChoice,
  knownTools: readonly string[],
): LoadedProject {
  return assemble({ root, version: versionOf(files), files, leftOut, problems: [...problems, ...left], knownTools });
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

/** Where links lead, also of a file that is not there yet: a folder that links to one above it is no further folder. */
function realPlace(path: string): string {
  const real = realOr(path);
  return real === path ? join(realOr(dirname(path)), basename(path)) : real;
}
