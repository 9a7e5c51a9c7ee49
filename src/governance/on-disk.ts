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
/** The lines that a repository's own configuration may have and be harmless: one header or one key to a line. */
const PLAIN_CONFIG_LINE =
  /^\s*(?:$|[#;].*|\[(?:core|user|init|pull|push|(?:remote|branch) "[^"\\\]]*")\]\s*$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|name|email|defaultbranch|url|pushurl|fetch|remote|merge|rebase|default|ff)\s*=[^\\]*$)/i;
/** Files of a repository that change where git looks or what it runs. */
const STEERING_FILES = [".git/config.worktree", ".git/commondir", ".git/info/attributes", ".gitmodules"];

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
  const pattern = segments.at(-1) ?? "";
  for (const { name, kind } of entries) {
    const mayMatch = /[[\\{]/.test(pattern) || matchWildcard(pattern, name);
    if (!mayMatch) continue;
    const path = folder === "." ? name : `${folder}/${name}`;
    const found = isSensitivePath(path);
    if (found.sensitive) return `${word} can mean ${path}: ${found.why}`;
    const why = kind === "symlink" ? await problemOf(path, files) : undefined;
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

const READERS: ReadonlySet<string> = new Set(["grep", "egrep", "fgrep", "rg", "diff"]);

/** What reads whole folders reads the secrets in them too: they are looked for by name first. */
async function loudWalk({ words }: SimpleCommand, files: DiskReader): Promise<string | undefined> {
  const program = programName(words);
  const walks =
    program === "rg" || program === "diff" || words.some((word) => /^--(?:rec|dir)|^-[a-z]*[rR]/.test(word));
  if (!READERS.has(program) || !walks) return undefined;
  const operands = words.slice(1).filter((word) => !word.startsWith("-"));
  // Ripgrep leaves hidden files out, and what it is told to look at is judged by its options.
  const isShown = (name: string): boolean => program !== "rg" || !name.startsWith(".");
  const isRead = includesOf(words);
  // Every operand counts, also the one that is probably the pattern.
  const folders = operands.length < 2 && program !== "diff" ? [".", ...operands] : [...operands];
  let seen = 0;
  while (folders.length > 0) {
    const folder = folders.pop() ?? ".";
    if ((await files.stat(folder).catch(() => undefined))?.kind !== "directory") continue;
    for (const { name, kind } of await files.list(folder)) {
      seen += 1;
      if (seen > MAX_WALKED_ENTRIES) return "it reads more files than are looked through for secrets first";
      const path = folder === "." ? name : `${folder}/${name}`;
      if (!isShown(name)) continue;
      if (kind === "symlink" && program === "diff") return `${path} is a link that it would follow`;
      if (name === ".git" && isRead("config")) return "it would read git's own files";
      if (kind === "directory" && name !== ".git" && name !== "node_modules") folders.push(path);
      const found = isSensitivePath(path);
      if (kind === "file" && found.sensitive && isRead(name)) return `it would read ${path}: ${found.why}`;
    }
  }
  return undefined;
}

/** Whether a file of this name is read, as far as `--include` says; a glob that is not plain counts as every name. */
function includesOf(words: readonly string[]): (name: string) => boolean {
  const globs = words.filter((word) => word.startsWith("--include=")).map((word) => word.slice(10));
  if (globs.length === 0 || globs.some((glob) => /[[\\{]/.test(glob))) return () => true;
  return (name) => globs.some((glob) => matchWildcard(glob, name));
}

/** A repository's own files can make git run programs, on a mere `git status`. Only a plain one is quiet. */
async function loudRepository(files: DiskReader): Promise<string | undefined> {
  if ((await files.stat(".git"))?.kind !== "directory")
    return "the workspace is not the root of a plain git repository";
  for (const path of STEERING_FILES) {
    if ((await files.stat(path)) !== undefined) return `${path} can change what git does`;
  }
  if ((await files.stat(".git/hooks"))?.kind === "directory") {
    const hook = (await files.list(".git/hooks")).find(({ name }) => !name.endsWith(".sample"));
    if (hook !== undefined) return `the hook ${hook.name} may run`;
  }
  try {
    const config = Buffer.from(await files.read(".git/config", MAX_GIT_CONFIG_BYTES)).toString("utf8");
    const odd = config.split(/\r?\n/).find((line) => !PLAIN_CONFIG_LINE.test(line));
    return odd === undefined
      ? undefined
      : `the repository's configuration can change what git runs (${odd.trim().slice(0, 80)})`;
  } catch (error) {
    if (error instanceof EffectError) return `the repository's configuration cannot be read: ${error.message}`;
    throw error;
  }
}
