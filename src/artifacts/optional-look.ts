/** Where the optional files of a project lie: the patterns of `file-kinds.ts`, held against the disk. Reads names, not contents. */
import { type Dirent, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { errnoOf, matchStars } from "#base";
import { isInside } from "#world";
import { type ContextSource, contextSources, DEFAULT_CONTEXT_SOURCES } from "./context-sources.ts";
import { type OptionalKind, type OptionalPlaces, optionalKinds } from "./file-kinds.ts";
import type { Problem } from "./project.ts";
import { type FolderScan, isThere, type SourceFile, seenThere, wayFrom } from "./project-files.ts";
import { warning } from "./schema.ts";

const MAX_LEVELS = 64;
/** Of `**`. */
const MAX_DEPTH = 8;
/** In one folder, and of one kind; more is a mistake, or a flood. */
const MAX_ENTRIES = 10_000;
const MAX_FILES = 2_000;
/** That are walked in the search for context files, and that may have some. */
const MAX_WALKED = 20_000;
const MAX_NESTED = 2_000;
/** Packages of others bring files for those who work on them. */
const FOREIGN_FOLDER = "node_modules";

export const defaultOptionalPlaces: OptionalPlaces = { contextSources: DEFAULT_CONTEXT_SOURCES };

/** The keys of that very object. */
const allOptionalPlaces: OptionalPlaces = {
  contextSources: Object.keys(contextSources) as ContextSource[],
  projectHooks: true,
};

/** Context files that are there and that the user did not choose. */
export function notEnabledFiles(root: string, { contextSources: enabled }: OptionalPlaces): readonly string[] {
  const others = allOptionalPlaces.contextSources.filter((source) => !enabled.includes(source));
  return scanKind(root, "instructions", { contextSources: others }).files.map(({ file }) => file);
}

/** The optional files of a project, kind by kind. `root` is a real path. `touched`: folders below it that are looked at as well. */
export function scanOptional(root: string, options: OptionalPlaces, touched: readonly string[] = []): FolderScan {
  const scans = kinds().map((kind) => scanKind(root, kind, options, touched));
  return { files: scans.flatMap(({ files }) => files), problems: scans.flatMap(({ problems }) => problems) };
}

/** Whether a folder may have one, whatever the user chose: a cheap look at the fixed beginning of each pattern. */
export function mayHaveOptional(root: string): boolean {
  const options = allOptionalPlaces;
  return kinds().some((kind) => {
    const { patterns, from } = optionalKinds[kind];
    const heads = patterns(options).map(fixedHead);
    return foldersOf(root, from).some((folder) => heads.some((head) => isThere(join(folder, head))));
  });
}

/** From the root of the repository, which has a `.git`, down to `root`; `root` alone outside a repository. */
export function repositoryFolders(root: string): readonly string[] {
  const folders = [root];
  for (let folder = root; folders.length < MAX_LEVELS; folder = dirname(folder)) {
    if (isThere(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) break;
    folders.unshift(dirname(folder));
  }
  return [root];
}

/**
 * The folders below `root` that may have context files, without hidden ones and links. A session reads the files of a folder only when the
 * agent works there; this is for whoever wants to answer for them before.
 */
export function nestedFolders(
  root: string,
  options: OptionalPlaces,
): { readonly folders: readonly string[]; readonly problems: readonly Problem[] } {
  const heads = new Set(optionalKinds.instructions.patterns(options).map((pattern) => pattern.split("/")[0]));
  const folders: string[] = [];
  const problems: Problem[] = [];
  const tell = (folder: string, message: string): void => {
    problems.push(warning("too-many-files", { file: wayFrom(root, folder), line: 1, column: 1 }, message));
  };
  const walk = [root];
  for (const folder of walk) {
    const entries = entriesOf(folder, tell);
    if (folder !== root && folders.length < MAX_NESTED && entries.some(({ name }) => heads.has(name)))
      folders.push(folder);
    const below = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
    const own = below.filter(({ name }) => name !== FOREIGN_FOLDER).slice(0, MAX_WALKED - walk.length);
    walk.push(...own.map(({ name }) => join(folder, name)));
  }
  if (walk.length >= MAX_WALKED)
    tell(root, `Harness looked for context files in ${MAX_WALKED} folders and in no others.`);
  return { folders, problems };
}

/** The folders below `root` that lead to a path, from the outermost down; the path itself may be one. None outside. */
export function foldersBelow(root: string, path: string): readonly string[] {
  if (!isInside(root, path)) return [];
  const names = relative(root, path).split(sep).slice(0, MAX_LEVELS);
  return names.map((_, index) => join(root, ...names.slice(0, index + 1))).filter((folder) => folder !== root);
}

function kinds(): readonly OptionalKind[] {
  // The keys of that very object.
  return Object.keys(optionalKinds) as OptionalKind[];
}

function foldersOf(root: string, from: "project" | "repository"): readonly string[] {
  return from === "repository" ? repositoryFolders(root) : [root];
}

function scanKind(
  root: string,
  kind: OptionalKind,
  options: OptionalPlaces,
  touched: readonly string[] = [],
): FolderScan {
  const { patterns, from } = optionalKinds[kind];
  const above = foldersOf(root, from);
  const [inside = root] = above;
  const folders = new Set(from === "repository" ? [...above, ...touched] : above);
  const problems: Problem[] = [];
  const paths = new Map<string, Pick<SourceFile, "stamp" | "isNested">>();
  for (const folder of folders) {
    const isNested = !above.includes(folder);
    for (const pattern of patterns(options)) {
      for (const [path, seen] of found(folder, pattern.split("/"), (at, message) => {
        problems.push(warning("too-many-files", { file: wayFrom(root, at), line: 1, column: 1 }, message));
      })) {
        paths.set(path, isNested ? { ...seen, isNested } : seen);
      }
    }
  }
  const files = [...paths].map(
    ([path, seen]): SourceFile => ({ kind, path, file: wayFrom(root, path), inside, ...seen }),
  );
  if (files.length <= MAX_FILES) return { files, problems };
  const message = `The project has ${files.length} files of this kind. Harness reads the first ${MAX_FILES}.`;
  problems.push(warning("too-many-files", { file: files[MAX_FILES]?.file ?? ".", line: 1, column: 1 }, message));
  return { files: files.slice(0, MAX_FILES), problems };
}

type Found = readonly [path: string, seen: Pick<SourceFile, "stamp">];

/** The paths that a pattern stands for, by name. A link to a folder is followed only where the pattern names one folder. */
function found(
  folder: string,
  [first, ...rest]: readonly string[],
  report: (folder: string, message: string) => void,
  depth = 0,
): readonly Found[] {
  if (first === undefined) return [];
  const next = (name: string): readonly Found[] => {
    const path = join(folder, name);
    if (rest.length > 0) return found(path, rest, report);
    const seen = seenThere(path);
    return seen === undefined ? [] : [[path, seen]];
  };
  if (!first.includes("*")) return next(first);
  const entries = entriesOf(folder, report);
  if (first !== "**") return entries.filter(({ name }) => nameMatches(first, name)).flatMap(({ name }) => next(name));
  const here = found(folder, rest, report);
  if (depth >= MAX_DEPTH) return here;
  const below = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  return [...here, ...below.flatMap(({ name }) => found(join(folder, name), [first, ...rest], report, depth + 1))];
}

function entriesOf(folder: string, report: (folder: string, message: string) => void): readonly Dirent[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR")
      report(folder, `The folder cannot be read (${code ?? String(error)}).`);
    return [];
  }
  if (entries.length > MAX_ENTRIES) {
    report(folder, `The folder has more than ${MAX_ENTRIES} entries. Harness reads none of them.`);
    return [];
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function nameMatches(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  if (pattern === "*") return true;
  const isStar = (part: string): boolean => part === "*";
  return matchStars([...pattern], [...name], isStar, (part, item) => part === item);
}

function fixedHead(pattern: string): string {
  const segments = pattern.split("/");
  const star = segments.findIndex((segment) => segment.includes("*"));
  return (star < 0 ? segments : segments.slice(0, star)).join("/");
}
