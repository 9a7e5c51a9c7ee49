/**
 * What the names in a call lead to on the disk: the rest of this folder judges paths as they are written, and a link can
 * make a harmless name mean something else. Asks through a view of the disk only, which keeps what was found for the record.
 */
import { posix } from "node:path";
import { type DiskReader, type DiskView, lookAtDisk } from "./disk-view.ts";
import { loudRepository, trackedFiles } from "./git-on-disk.ts";
import { pathNames } from "./known-tools.ts";
import { isSensitivePath } from "./sensitive-paths.ts";
import { everyCommand, type SimpleCommand } from "./shell/command.ts";
import type { Feed } from "./shell/feeds.ts";
import { pathOperands, showsNamesOnly, takesResponseFiles } from "./shell/quiet.ts";
import { programName } from "./shell/wrappers.ts";
import { hasGlob, matchWildcard } from "./wildcard.ts";

/** A folder with more entries is not looked through for links. */
const MAX_ENTRIES = 2000;
/** A recursive read of more than this asks. */
const MAX_WALKED_ENTRIES = 20_000;

/** The arguments with every path replaced by where it really leads; undefined when one leads out of the workspace. */
export async function locatedArguments(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  disk: DiskView,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const located: Record<string, unknown> = { ...args };
  for (const name of pathNames(tool)) {
    const path = args[name];
    if (typeof path !== "string") continue;
    const real = await disk.locate(path);
    if (real === undefined) return undefined;
    located[name] = real;
  }
  return located;
}

/**
 * Why commands that read as quiet are not, once their operands are looked up; undefined when they are. `cwd` is where the
 * whole command starts, relative to the workspace root.
 */
export async function loudOnDisk(
  commands: readonly SimpleCommand[],
  disk: DiskView,
  cwd = ".",
): Promise<string | undefined> {
  for (const simple of everyCommand(commands)) {
    for (const folder of simple.folders) {
      const why = await loudIn(simple, inFolder(cwd, folder), disk);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

async function loudIn(simple: SimpleCommand, folder: string, disk: DiskView): Promise<string | undefined> {
  if (folder !== ".") {
    const real = await disk.locate(folder);
    // Behind a link `..` leads somewhere else than it reads.
    if (real === undefined || real !== relativeTo(disk.root, folder))
      return `${folder} is a symbolic link or leads out of the workspace`;
  }
  const name = programName(simple.words);
  if (name === "git") {
    const why = await disk.finding("git", folder, (files) => loudRepository(files, folder));
    if (why !== undefined) return why;
  }
  const walked = (await loudWalk(simple, folder, disk)) ?? (await loudFeeds(simple, folder, disk));
  if (walked !== undefined) return walked;
  for (const { path } of simple.redirects) {
    const why = await problemOf(inFolder(folder, path), disk);
    if (why !== undefined) return why;
  }
  for (const index of pathOperands(simple)) {
    const word = simple.words[index] ?? "";
    if (simple.unknown.includes(index)) continue;
    const option = takesResponseFiles(simple) ? /^[-@]/ : /^-/;
    const why = await leadsElsewhere(
      operandOf(word),
      { globbed: simple.globbed.includes(index), option },
      folder,
      disk,
    );
    if (why !== undefined) return why;
  }
  return undefined;
}

/** A path as written in `folder`, from the workspace root. */
export function inFolder(folder: string, path: string): string {
  return folder === "." || path.startsWith("/") ? path : `${folder}/${path}`;
}

function relativeTo(root: string, folder: string): string {
  return posix.relative(root, posix.resolve(root, folder)) || ".";
}

/** The part of a word that can be a path: the value of `--name=value`, the word itself otherwise. */
function operandOf(word: string): string {
  const cut = word.startsWith("-") ? word.indexOf("=") : -1;
  return cut < 0 ? word : word.slice(cut + 1);
}

async function leadsElsewhere(
  word: string,
  { globbed, option }: { readonly globbed: boolean; readonly option: RegExp },
  base: string,
  disk: DiskView,
): Promise<string | undefined> {
  if (word === "" || /^\/dev\/(?:null|stdin)$/.test(word) || (word.startsWith("-") && !word.includes("/")))
    return undefined;
  if (!globbed) return problemOf(inFolder(base, word), disk);
  const segments = word.split("/");
  const first = segments.findIndex((segment) => hasGlob(segment));
  if (first < segments.length - 1 && segments.slice(first + 1).join("") !== "") {
    return `${word} can match files in folders that Harness did not check`;
  }
  const folder = inFolder(base, segments.slice(0, first).join("/") || (word.startsWith("/") ? "/" : "."));
  const problem = await problemOf(folder, disk);
  if (problem !== undefined) return problem;
  const glob = { word, pattern: segments[first] ?? "", folder, option: first === 0 ? option.source : undefined };
  return disk.finding("glob", glob, (files) => loudGlob(glob, files));
}

interface GlobWord {
  readonly word: string;
  /** Of the last part. */
  readonly pattern: string;
  readonly folder: string;
  /** How a name begins that reads as an option; absent where a folder stands in front of it. */
  readonly option: string | undefined;
}

/** What the names that a glob stands for now would come to. */
async function loudGlob({ word, pattern, folder, option }: GlobWord, files: DiskReader): Promise<string | undefined> {
  if ((await files.stat(folder))?.kind !== "directory") return undefined;
  const entries = await files.list(folder);
  if (entries.length > MAX_ENTRIES) return `${folder} has too many entries to check`;
  const disk = lookAtDisk(files);
  for (const { name, kind } of entries) {
    // A wildcard does not stand for the dot at the beginning of a hidden name.
    if (name.startsWith(".") && !pattern.startsWith(".")) continue;
    if (!/[[\\{]/.test(pattern) && !matchWildcard(pattern, name)) continue;
    if (option !== undefined && new RegExp(option).test(name))
      return `${word} can match ${name}, which looks like an option`;
    const path = folder === "." ? name : `${folder}/${name}`;
    const found = isSensitivePath(path);
    if (found.sensitive) return `${word} can match ${path}: ${found.why}`;
    const why = kind === "symlink" ? await problemOf(path, disk) : undefined;
    if (why !== undefined) return why;
  }
  return undefined;
}

async function problemOf(path: string, disk: DiskView): Promise<string | undefined> {
  if (await climbsBehindLink(path, disk)) return `${path} uses .. to leave a folder that is a symbolic link`;
  const real = await disk.locate(path);
  if (real === undefined) return `${path} leads out of the workspace`;
  const found = isSensitivePath(real);
  return found.sensitive ? `${path} leads to ${real}: ${found.why}` : undefined;
}

/** In `link/../x` the system goes up from where the link leads, not from where it stands. */
async function climbsBehindLink(path: string, disk: DiskView): Promise<boolean> {
  const segments = path.split("/");
  for (let at = 1; at < segments.length; at++) {
    const before = segments.slice(0, at).join("/");
    if (segments[at] !== ".." || /^(?:\.\.?|)(?:\/\.\.?)*$/.test(before)) continue;
    const real = await disk.locate(before);
    if (real !== undefined && real !== relativeTo(disk.root, before)) return true;
    if (real === undefined) return true;
  }
  return false;
}

/** What a walk over folders found that must not be read unasked. */
interface Walk {
  readonly folders: readonly string[];
  readonly isShown: (name: string) => boolean;
  readonly isRead: (name: string) => boolean;
  /** Names, sizes or counts are shown, never content. */
  readonly namesOnly?: boolean;
  /** What is read is opened by name, so that a link leads on. */
  readonly follows?: boolean;
  /** Folders by this name are not entered: those of packages and of git, where nobody keeps secrets of their own. */
  readonly skips: (name: string) => boolean;
  /** Called for each entry before it is judged. */
  readonly refuses?: (path: string, name: string, kind: string) => string | undefined;
}

const READERS: ReadonlySet<string> = new Set(["grep", "egrep", "fgrep", "rg", "diff"]);

/** What reads whole folders reads the secrets in them too: they are looked for by name first. */
async function loudWalk(simple: SimpleCommand, base: string, disk: DiskView): Promise<string | undefined> {
  const walk = walkOf(simple, base);
  if (walk === undefined) return undefined;
  const isGit = programName(simple.words) === "git";
  return disk.finding("walk", [simple.words, base], (files) =>
    isGit ? walkTracked(walk, files) : walkFolders(walk, files),
  );
}

function walkOf(simple: SimpleCommand, base: string): Walk | undefined {
  const { words } = simple;
  const program = programName(words);
  const gitGrep = program === "git" && words[1] === "grep";
  const walks =
    gitGrep ||
    program === "rg" ||
    program === "diff" ||
    words.some((word) => /^--(?:rec|dir)|^-[a-zA-Z]*[rR]/.test(word));
  if ((!READERS.has(program) && !gitGrep) || !walks) return undefined;
  const operands = words.slice(gitGrep ? 2 : 1).filter((word) => !word.startsWith("-"));
  // Every operand counts, also the one that is probably the pattern; without a path among them it is the folder itself.
  const named = pathOperands(simple).some((index) => !(words[index] ?? "").startsWith("-"));
  const folders = named ? [...operands] : [".", ...operands];
  return {
    folders: folders.map((folder) => inFolder(base, folder)),
    // Ripgrep leaves hidden files out, and what it is told to look at is judged by its options.
    isShown: (name) => program !== "rg" || !name.startsWith("."),
    isRead: includesOf(words),
    // What follows links is looked at everywhere.
    skips: (name) => program !== "diff" && isForeign(name),
    refuses: (path, name, kind) => {
      if (kind === "symlink" && program === "diff") return `${path} is a link that it would follow`;
      return name === ".git" && !gitGrep && includesOf(words)("config") ? "it would read git's own files" : undefined;
    },
  };
}

export async function walkFolders(
  walk: Walk,
  files: DiskReader,
  denied?: (path: string) => string | undefined,
): Promise<string | undefined> {
  const folders = [...walk.folders];
  let seen = 0;
  while (folders.length > 0) {
    const folder = folders.pop() ?? ".";
    const kind = (await files.stat(folder).catch(() => undefined))?.kind;
    if (kind !== "directory") continue;
    for (const entry of await files.list(folder)) {
      seen += 1;
      if (seen > MAX_WALKED_ENTRIES) return "it reads too many files to check them for secrets first";
      const { name } = entry;
      const path = folder === "." ? name : `${folder}/${name}`;
      if (!walk.isShown(name)) continue;
      const refused = walk.refuses?.(path, name, entry.kind);
      if (refused !== undefined) return refused;
      if (entry.kind === "directory" && !walk.skips(name)) folders.push(path);
      if (!walk.isRead(name) || entry.kind === "directory") continue;
      const found = isSensitivePath(path);
      if (entry.kind === "file" && found.sensitive && walk.namesOnly !== true)
        return `it would read ${path}: ${found.why}`;
      const why = denied?.(path);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

/** The same over the files that git tracks, whether they are there or not. */
export async function walkTracked(
  walk: Walk,
  files: DiskReader,
  denied?: (path: string) => string | undefined,
): Promise<string | undefined> {
  const tracked = await trackedFiles(files);
  if (tracked === undefined) return "Harness cannot tell which files git tracks";
  if (tracked.length > MAX_WALKED_ENTRIES) return "it reads too many files to check them for secrets first";
  const straight = new Set<string>();
  const { locate } = lookAtDisk(files);
  for (const { path, link } of tracked) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    // The index says what the names are, and the disk where they lead.
    const folder = posix.dirname(path);
    if (!straight.has(folder) && (await locate(folder)) !== folder)
      return `${folder} leads to another folder than the one it reads`;
    straight.add(folder);
    if (walk.follows === true && walk.isRead(name) && (await locate(path)) !== path)
      return `${path} is a link that it would follow`;
    const refused = walk.refuses?.(path, name, link ? "symlink" : "file");
    if (refused !== undefined) return refused;
    if (!walk.isRead(name)) continue;
    const found = isSensitivePath(path);
    if (found.sensitive && walk.namesOnly !== true) return `it would read ${path}: ${found.why}`;
    const why = denied?.(path);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** The names that a listing hands on are looked up before somebody reads the files behind them. */
async function loudFeeds(simple: SimpleCommand, base: string, disk: DiskView): Promise<string | undefined> {
  // Counts and sizes tell nothing, whichever files they are of.
  if (showsNamesOnly(simple)) return undefined;
  for (const feed of feedsOf(simple)) {
    const walk = feedWalk(feed, base);
    const why = await disk.finding("feed", [feed, base], (files) =>
      feed.git === "index" ? walkTracked(walk, files) : walkFolders(walk, files),
    );
    if (why !== undefined) return why;
  }
  return undefined;
}

export function feedsOf(simple: SimpleCommand): readonly Feed[] {
  return [...simple.feeds.values(), ...(simple.open && simple.openFeed !== undefined ? [simple.openFeed] : [])];
}

/** What may be among the names: those that would be taken apart, for options, or that are links, are refused. */
export function feedWalk(feed: Feed, base: string): Walk {
  const isRead = (name: string): boolean =>
    feed.names === undefined || /[[\\{]/.test(feed.names) || matchWildcard(feed.names, name);
  return {
    folders: feed.roots.map((root) => inFolder(base, root)),
    isShown: (name) => feed.hidden || !name.startsWith("."),
    isRead,
    follows: true,
    skips: (name) => !feed.links && isForeign(name),
    refuses: (path, name, kind) => {
      // Of what git tracks only the files are seen, so the folders above count with them.
      const whole = feed.git === undefined ? name : path;
      if (feed.split && /[\s'"\\*?[]/.test(whole)) return `${path} has a name that the command would split`;
      if (!feed.prefixed && whole.startsWith("-")) return `${path} has a name that looks like an option`;
      if (kind === "symlink" && feed.links && isRead(name)) return `${path} is a link that it would follow`;
      return name === ".git" && feed.git === undefined && isRead("config")
        ? "it would read git's own files"
        : undefined;
    },
  };
}

function isForeign(name: string): boolean {
  return name === ".git" || name === "node_modules";
}

/** Whether a file of this name is read, as far as `--include` says; a glob that is not plain counts as every name. */
function includesOf(words: readonly string[]): (name: string) => boolean {
  const globs = words.filter((word) => word.startsWith("--include=")).map((word) => word.slice(10));
  if (globs.length === 0 || globs.some((glob) => /[[\\{]/.test(glob))) return () => true;
  return (name) => globs.some((glob) => matchWildcard(glob, name));
}
