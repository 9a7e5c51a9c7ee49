/** Whether git may run without a question here: a repository's own files can make it run programs, on a mere `git status`. */
import { beginningOf, EffectError } from "#base";
import type { DiskReader } from "./disk-view.ts";

const MAX_GIT_CONFIG_BYTES = 64 * 1024;
/** The lines that a repository's own configuration may have and be harmless: one header or one key to a line. */
const PLAIN_CONFIG_LINE =
  /^\s*(?:$|[#;].*|\[(?:core|user|init|pull|push|color|gc|rerere|advice|fetch|(?:remote|branch) "[^"\\\]]*")\]\s*$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|name|email|defaultbranch|url|pushurl|fetch|remote|merge|rebase|default|ff|ui|auto|enabled|prune|vscode-merge-base|github-pr-owner-number|autosetupremote|quotepath)\s*=[^\\]*$)/i;
const MAX_PLACEHOLDER_BYTES = 16;
/** Files of a repository that change where git looks or what it runs. */
const STEERING_FILES = [".git/config.worktree", ".git/commondir", ".git/info/attributes", ".gitmodules"];

/** Undefined when the repository at the workspace root is a plain one and `folder` belongs to it. */
export async function loudRepository(files: DiskReader, folder: string): Promise<string | undefined> {
  const inside = folder.startsWith("/") ? folder.slice(files.root.length) : folder;
  const segments = inside.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) return "git would run in a folder that Harness cannot check";
  // A folder inside the workspace can hold a repository whose configuration runs programs, or be one itself: plain files of
  // the project are enough for that.
  const nested = segments
    .map((_, depth) => segments.slice(0, depth + 1).join("/"))
    .flatMap((path) => [`${path}/.git`, `${path}/HEAD`]);
  const [own, hooks, tracked, config, ...others] = await Promise.all([
    files.stat(".git"),
    files.list(".git/hooks").catch(whenMissing([])),
    trackedFiles(files),
    files.read(".git/config", MAX_GIT_CONFIG_BYTES).catch(whenMissing(undefined)),
    ...nested.map(async (path) => ({ path, there: (await files.stat(path)) !== undefined })),
    ...STEERING_FILES.map(async (path) => ({ path, there: await saysSomething(path, files) })),
  ]);
  const other = others.find(({ there }) => there);
  if (other !== undefined) {
    return nested.includes(other.path)
      ? `${other.path} belongs to another repository`
      : `${other.path} can change what git does`;
  }
  if (own?.kind !== "directory") return "the workspace is not the root of an ordinary git repository";
  const hook = hooks.find(({ name }) => !name.endsWith(".sample"));
  if (hook !== undefined) return `the hook ${hook.name} may run`;
  if (tracked === undefined) return "the repository's index cannot be read";
  // Git looks into such a repository, and obeys its configuration there.
  const inner = tracked.find((file) => file.nested);
  if (inner !== undefined) return `${inner.path} is another repository`;
  if (config === undefined) return "the repository's configuration cannot be read";
  const odd = Buffer.from(config)
    .toString("utf8")
    .split(/\r?\n/)
    .find((line) => !PLAIN_CONFIG_LINE.test(line));
  return odd === undefined
    ? undefined
    : `the repository's configuration can change what git runs (${beginningOf(odd.trim(), 80)})`;
}

/** False when it is not there, or says only what git takes for granted: then it keeps the name free for a command that runs. */
async function saysSomething(path: string, files: DiskReader): Promise<boolean> {
  const info = await files.stat(path);
  if (info === undefined) return false;
  if (info.kind !== "file" || info.sizeBytes > MAX_PLACEHOLDER_BYTES) return true;
  const text = Buffer.from(await files.read(path, MAX_PLACEHOLDER_BYTES)).toString("utf8");
  return path.endsWith("/commondir") ? text !== ".\n" : text !== "";
}

/** What is not there, or is no folder, counts as `instead`; every other problem is one. */
function whenMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof EffectError && /^(?:NotFound|NotADirectory|TooLarge)$/.test(error.reason)) return instead;
    throw error;
  };
}

/** A larger index is not read. */
const MAX_INDEX_BYTES = 16 * 1024 * 1024;
const ENTRY_HEADER_BYTES = 62;
const EXTENDED_FLAG = 0x4000;
const KIND_BITS = 0o170000;
const LINK_MODE = 0o120000;
const NESTED_MODE = 0o160000;

export interface TrackedFile {
  /** From the workspace root. */
  readonly path: string;
  readonly link: boolean;
  /** A repository of its own, of which only the commit is tracked. */
  readonly nested: boolean;
}

/** The files in git's index, none when there is no index; undefined when it is of a kind that is not read here. */
export async function trackedFiles(files: DiskReader): Promise<readonly TrackedFile[] | undefined> {
  let index: Buffer;
  try {
    index = Buffer.from(await files.read(".git/index", MAX_INDEX_BYTES));
  } catch (error) {
    if (error instanceof EffectError) return error.reason === "NotFound" ? [] : undefined;
    throw error;
  }
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  const tracked: TrackedFile[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    if (at + ENTRY_HEADER_BYTES > index.length) return undefined;
    const mode = index.readUInt32BE(at + 24);
    const extended = (index.readUInt16BE(at + 60) & EXTENDED_FLAG) !== 0;
    const start = at + ENTRY_HEADER_BYTES + (extended ? 2 : 0);
    const end = index.indexOf(0, start);
    if (end < 0) return undefined;
    tracked.push({
      path: index.toString("utf8", start, end),
      link: (mode & KIND_BITS) === LINK_MODE,
      nested: (mode & KIND_BITS) === NESTED_MODE,
    });
    // Entries are padded with one to eight zero bytes to a multiple of eight.
    at += Math.floor((end - at + 8) / 8) * 8;
  }
  return tracked;
}
