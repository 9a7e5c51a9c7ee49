/** Which files a project consists of: the root file, and what lies in the folders of its artifact roots. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { errnoOf, nearestName } from "#base";
import { isInside } from "#world";
import type { FileKind, Problem, SourceLocation } from "./project.ts";
import { error, warning } from "./schema.ts";
import { type Stamp, toStamp } from "./stamp.ts";

export interface SourceFile {
  readonly kind: FileKind;
  readonly path: string;
  /** As a `SourceLocation.file`. */
  readonly file: string;
  /** The real folder that a link must not leave. */
  readonly inside: string;
  /** What it was when it was looked for; absent: it has to be looked at. */
  readonly stamp?: Stamp;
  /** A context file of a folder below the project. */
  readonly isNested?: boolean;
}

export interface FolderScan {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

export const CONFIG_NAMES = ["harness.md", "harness.yaml", "harness.yml"] as const;

/** Folder of an artifact root → what its files are. */
export const artifactFolders: Readonly<Record<string, FileKind>> = {
  tools: "tool",
  hooks: "hook",
  agents: "agent",
  plugins: "plugin",
  builtins: "builtin",
  overrides: "override",
};

/** In one folder; more is a mistake, or a flood. */
const MAX_FOLDER_FILES = 10_000;
/** Files that somebody may have meant to be artifacts. */
const LOOKS_LIKE_ARTIFACT = /\.(?:ya?ml|markdown|star|bzl)$/i;

/** As people know it: relative to the project, absolute outside it, with `/`. */
export function displayPath(root: string, path: string): string {
  return isInside(root, path) ? wayFrom(root, path) : path.split(sep).join("/");
}

/** The way from the project to a path without `..` in it, with `/`. `relative` alone takes a quarter of a look at many files. */
export function wayFrom(root: string, path: string): string {
  const way = path.startsWith(root + sep) ? path.slice(root.length + 1) : relative(root, path) || ".";
  return sep === "/" ? way : way.split(sep).join("/");
}

/** The root files that are there; there should be one at most. */
export function findConfigs(root: string): readonly string[] {
  return CONFIG_NAMES.map((name) => join(root, name)).filter(isFileThere);
}

/** Also when it cannot be looked at or is a link to nowhere: reading it says so. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    return errnoOf(cause) !== "ENOTDIR";
  }
}

/** Not where an empty folder stands: while a command runs, those hold the names of files that it must not make. */
export function isFileThere(path: string): boolean {
  return seenThere(path) !== undefined;
}

/** Undefined where no file is there. Without a stamp: it is more than an ordinary file, or cannot be looked at. */
export function seenThere(path: string): { readonly stamp?: Stamp } | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined || (stats.isDirectory() && readdirSync(path).length === 0)) return undefined;
    return stats.isFile() ? { stamp: toStamp(stats) } : {};
  } catch (cause) {
    return errnoOf(cause) === "ENOTDIR" ? undefined : {};
  }
}

/** The artifact root itself: says what in it looks like a folder of artifacts and is none. */
export function scanRoot(root: string, folder: string): readonly Problem[] {
  const names = readFolder(folder);
  if (!Array.isArray(names)) return [];
  const known = Object.keys(artifactFolders);
  return names.flatMap((entry): Problem[] => {
    const place: SourceLocation = { file: displayPath(root, join(folder, entry.name)), line: 1, column: 1 };
    if (basename(folder) === ".harness" && (CONFIG_NAMES as readonly string[]).includes(entry.name)) {
      return [warning("not-read", place, "Harness does not read this file here: move it next to the folder .harness.")];
    }
    const nearest = entry.isDirectory() && !known.includes(entry.name) ? nearestName(entry.name, known) : undefined;
    if (nearest === undefined) return [];
    return [warning("not-read", place, "Harness does not read this folder.", { nearest })];
  });
}

/** One folder of an artifact root. Not being there is no problem. */
export function scanFolder(root: string, inside: string, folder: string, kind: FileKind): FolderScan {
  const placeOf = (path: string): SourceLocation => ({ file: displayPath(root, path), line: 1, column: 1 });
  const entries = readFolder(folder);
  if (entries === undefined) return { files: [], problems: [] };
  if (!Array.isArray(entries)) {
    const message =
      entries.code === "ENOTDIR"
        ? "This is a file, but Harness expects a folder here."
        : `The folder cannot be read (${entries.code}).`;
    return {
      files: [],
      problems: [error(entries.code === "ENOTDIR" ? "not-a-folder" : "unreadable", placeOf(folder), message)],
    };
  }
  if (!isInside(inside, realpathSync.native(folder))) {
    return {
      files: [],
      problems: [
        error("outside-project", placeOf(folder), "The folder is a symbolic link to a place outside the project."),
      ],
    };
  }
  if (entries.length > MAX_FOLDER_FILES) {
    return {
      files: [],
      problems: [error("too-many-files", placeOf(folder), `The folder has more than ${MAX_FOLDER_FILES} entries.`)],
    };
  }
  const files: SourceFile[] = [];
  const problems: Problem[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = resolve(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    // A folder named `x.md` is read like a file, which says that it is none.
    if (entry.name.endsWith(".md")) files.push({ kind, path, file: displayPath(root, path), inside });
    else if (entry.isDirectory())
      problems.push(warning("not-read", placeOf(path), "Harness does not read folders inside this folder."));
    else if (LOOKS_LIKE_ARTIFACT.test(entry.name)) {
      problems.push(
        warning("not-read", placeOf(path), "Harness does not read this file.", {
          expected: "a file whose name ends in .md",
        }),
      );
    }
  }
  return { files, problems };
}

/** Undefined when it is not there. */
function readFolder(folder: string): ReturnType<typeof listed> | { readonly code: string } | undefined {
  try {
    return listed(folder);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    return code === "ENOENT" ? undefined : { code };
  }
}

function listed(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
