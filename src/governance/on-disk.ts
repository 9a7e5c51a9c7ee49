/**
 * What the names in a call lead to on the disk: the rest of this folder judges paths as they are written, and a link can
 * make a harmless name mean something else. Reads through the file port only.
 */
import { EffectError, type FilePort } from "#base";
import { isSensitivePath } from "./sensitive-paths.ts";
import { everyCommand, type SimpleCommand } from "./shell.ts";
import { programName } from "./shell-wrappers.ts";
import { hasGlob, matchWildcard } from "./wildcard.ts";

export type DiskReader = Pick<FilePort, "locate" | "stat" | "list" | "read">;

const PATH_ARGUMENTS = ["path", "from", "to"] as const;
/** A folder with more entries is not looked through for links. */
const MAX_ENTRIES = 2000;
/** A recursive read of more than this asks. */
const MAX_WALKED_ENTRIES = 20_000;
const MAX_GIT_CONFIG_BYTES = 64 * 1024;
/** Keys with which a repository's own configuration runs programs or points elsewhere. */
const RUNS_PROGRAMS =
  /^\s*(?:\[\s*include|(?:fsmonitor|external|textconv|command|sshcommand|pager|hookspath|program|editor|clean|smudge|process|worktree|path|helper|askpass)\s*=)/im;

/** The arguments with every path replaced by where it really leads; undefined when one leads out of the workspace. */
export async function locatedArguments(
  args: Readonly<Record<string, unknown>>,
  files: DiskReader,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const located: Record<string, unknown> = { ...args };
  for (const name of PATH_ARGUMENTS) {
    const path = args[name];
    if (typeof path !== "string") continue;
    const real = await locate(path, files);
    if (real === undefined) return undefined;
    located[name] = real;
  }
  return located;
}

/** Why commands that read as quiet are not, once their operands are looked up; undefined when they are. */
export async function loudOnDisk(commands: readonly SimpleCommand[], files: DiskReader): Promise<string | undefined> {
  for (const simple of everyCommand(commands)) {
    if (programName(simple.words) === "git") {
      const why = await loudRepository(files);
      if (why !== undefined) return why;
    }
    const walked = await loudWalk(simple, files);
    if (walked !== undefined) return walked;
    for (const [index, word] of simple.words.entries()) {
      if (index === 0) continue;
      const why = await leadsElsewhere(operandOf(word), simple.globbed.includes(index), files);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

/** The part of a word that can be a path: the value of `--name=value`, the word itself otherwise. */
function operandOf(word: string): string {
  const cut = word.startsWith("-") ? word.indexOf("=") : -1;
  return cut < 0 ? word : word.slice(cut + 1);
}

async function leadsElsewhere(word: string, globbed: boolean, files: DiskReader): Promise<string | undefined> {
  if (word === "" || word === "/dev/null" || (word.startsWith("-") && !word.includes("/"))) return undefined;
  if (!globbed) return problemOf(word, files);
  const segments = word.split("/");
  const first = segments.findIndex((segment) => hasGlob(segment));
  if (first < segments.length - 1) return `${word} can match files in folders that were not looked at`;
  const folder = segments.slice(0, -1).join("/") || ".";
  const problem = await problemOf(folder, files);
  if (problem !== undefined) return problem;
  if ((await files.stat(folder))?.kind !== "directory") return undefined;
  const entries = await files.list(folder);
  if (entries.length > MAX_ENTRIES) return `${folder} has more entries than are looked through`;
  for (const { name, kind } of entries) {
    if (kind !== "symlink") continue;
    const why = await problemOf(`${folder}/${name}`, files);
    if (why !== undefined) return why;
  }
  return undefined;
}

async function problemOf(path: string, files: DiskReader): Promise<string | undefined> {
  const real = await locate(path, files);
  if (real === undefined) return `${path} leads out of the workspace`;
  const found = isSensitivePath(real);
  return found.sensitive ? `${path} leads to ${real}: ${found.why}` : undefined;
}

async function locate(path: string, files: DiskReader): Promise<string | undefined> {
  try {
    return await files.locate(path);
  } catch (error) {
    if (error instanceof EffectError && error.reason === "OutsideWorkspace") return undefined;
    // What is not there or cannot be entered leads nowhere; the call itself will find that out.
    if (error instanceof EffectError) return path;
    throw error;
  }
}

/** A recursive grep reads whatever lies below; the secrets there are looked for by name first. */
async function loudWalk({ words }: SimpleCommand, files: DiskReader): Promise<string | undefined> {
  const isRecursive = words.some((word) => word === "--recursive" || /^-[a-z]*r/i.test(word));
  if (programName(words) !== "grep" || !isRecursive) return undefined;
  const includes = words.filter((word) => word.startsWith("--include=")).map((word) => word.slice(10));
  const isRead = (name: string): boolean => includes.length === 0 || includes.some((glob) => matchWildcard(glob, name));
  const operands = words.slice(1).filter((word) => !word.startsWith("-"));
  const folders = operands.length < 2 ? ["."] : operands.slice(1);
  let seen = 0;
  while (folders.length > 0) {
    const folder = folders.pop() ?? ".";
    if ((await files.stat(folder))?.kind !== "directory") continue;
    for (const { name, kind } of await files.list(folder)) {
      seen += 1;
      if (seen > MAX_WALKED_ENTRIES) return `${operands.join(" ")} holds too many files to look for secrets first`;
      const path = folder === "." ? name : `${folder}/${name}`;
      if (kind === "directory" && (name !== ".git" || includes.length === 0)) folders.push(path);
      const found = isSensitivePath(path);
      if (kind === "file" && found.sensitive && isRead(name)) return `it would read ${path}: ${found.why}`;
    }
  }
  return undefined;
}

/** A repository's own configuration can run programs on a mere `git status`. */
async function loudRepository(files: DiskReader): Promise<string | undefined> {
  const folder = await files.stat(".git");
  if (folder?.kind !== "directory") return "the workspace is not the root of a plain git repository";
  try {
    const config = Buffer.from(await files.read(".git/config", MAX_GIT_CONFIG_BYTES)).toString("utf8");
    return RUNS_PROGRAMS.test(config) ? "the repository's configuration can run programs" : undefined;
  } catch (error) {
    if (error instanceof EffectError) return `the repository's configuration cannot be read: ${error.message}`;
    throw error;
  }
}
