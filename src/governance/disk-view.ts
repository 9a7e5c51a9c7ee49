/**
 * The disk as judging sees it: every question that a decision asks about it, and what was found. A session looks and keeps what it
 * found for the record; a backtest knows only what is on the record, and never looks at a disk that has changed since.
 */
import { posix } from "node:path";
import { canonicalHash, EffectError, type FilePort } from "#base";
import type { DiskFacts } from "#engine";

export type DiskReader = Pick<FilePort, "root" | "locate" | "stat" | "list" | "read">;

export interface DiskView {
  /** The absolute workspace root. */
  readonly root: string;
  /** Where a path leads from the workspace root; undefined when it leads out of it. */
  locate(path: string): Promise<string | undefined>;
  /**
   * The answer to a question that takes many looks, as `look` finds it. `what` names the question, `about` is everything besides
   * the disk that the answer depends on.
   */
  finding(
    what: string,
    about: unknown,
    look: (files: DiskReader) => Promise<string | undefined>,
  ): Promise<string | undefined>;
  /** What was found so far; undefined when nothing was asked. */
  found(): DiskFacts | undefined;
}

/** Questions about one call that are kept; the answers to further ones are not on the record. */
const MAX_KEPT = 100;
/** Longer names are not kept either. */
const MAX_KEPT_CHARS = 1000;
const HASH_CHARS = 16;

export function lookAtDisk(files: DiskReader): DiskView {
  const paths = new Map<string, string | null>();
  const looks = new Map<string, string | null>();
  const keep = (kept: Map<string, string | null>, question: string, answer: string | null): void => {
    const isLong = question.length > MAX_KEPT_CHARS || (answer?.length ?? 0) > MAX_KEPT_CHARS;
    if (!isLong && kept.size < MAX_KEPT) kept.set(question, answer);
  };
  return {
    root: files.root,
    async locate(path) {
      const real = await locate(path, files);
      keep(paths, nameOf(path), markOf(path, real, files.root));
      return real;
    },
    async finding(what, about, look) {
      const answer = await look(files);
      keep(looks, questionOf(what, about), answer ?? null);
      return answer;
    },
    found() {
      if (paths.size === 0 && looks.size === 0) return undefined;
      return {
        ...(paths.size === 0 ? {} : { paths: Object.fromEntries(paths) }),
        ...(looks.size === 0 ? {} : { looks: Object.fromEntries(looks) }),
      };
    },
  };
}

/** Thrown when a decision asks something about the disk that nobody asked at the time. */
export class NotOnRecord extends Error {
  override readonly name = "NotOnRecord";
}

/** Answers from the record; what is not on it throws {@link NotOnRecord}. */
export function rememberedDisk(root: string, { paths = {}, looks = {} }: DiskFacts = {}): DiskView {
  /** Each rule about files asks about the same paths. */
  const located = new Map<string, string | undefined>();
  const locateOnRecord = (path: string): string | undefined => {
    const name = nameOf(path);
    if (!Object.hasOwn(paths, name)) throw new NotOnRecord(`the log does not say where the link ${path} led`);
    const real = paths[name];
    if (real === AS_READ) return readingOf(path, root);
    return real === AS_WRITTEN ? path : (real ?? undefined);
  };
  return {
    root,
    async locate(path) {
      if (!located.has(path)) located.set(path, locateOnRecord(path));
      return located.get(path);
    },
    async finding(what, about) {
      const question = questionOf(what, about);
      if (!Object.hasOwn(looks, question)) throw new NotOnRecord(`the log does not say ${UNSEEN[what] ?? what}`);
      return looks[question] ?? undefined;
    },
    found: () => undefined,
  };
}

/** Where a path led when a call was judged; undefined when that is not on the record, or out of the workspace. */
export function recordedPath(found: DiskFacts | undefined, path: string, root: string): string | undefined {
  const real = found?.paths?.[nameOf(path)] ?? undefined;
  if (real === AS_WRITTEN) return path;
  return real === AS_READ ? readingOf(path, root) : real;
}

/** A path that leads where it says. */
const AS_WRITTEN = "";
/** One that leads where it reads, links aside: `a//b`, `./a`. A URL is one too; in its short form nobody would know it for one. */
const AS_READ = "/";

function markOf(path: string, real: string | undefined, root: string): string | null {
  if (real === undefined) return null;
  if (real === path) return AS_WRITTEN;
  return real === readingOf(path, root) ? AS_READ : real;
}

function readingOf(path: string, root: string): string {
  return posix.relative(root, posix.resolve(root, path)) || ".";
}

/** For people: what a missing answer would have told. */
const UNSEEN: Readonly<Record<string, string>> = {
  git: "whether the git repository was an ordinary one",
  walk: "which files the command would have read",
  feed: "which files the folder contained",
  glob: "which files a pattern matched",
  steering: "whether a folder contained steering files",
  rules: "whether the command would have read files that a rule names",
};

/** A word of a command without those around it may be a secret that nobody would recognise: it is not on the record as it is. */
function nameOf(path: string): string {
  return canonicalHash(path).slice(0, HASH_CHARS);
}

/** Short, and without the words of the command: they may hold what must not be on the record. */
function questionOf(what: string, about: unknown): string {
  return `${what} ${canonicalHash(about).slice(0, HASH_CHARS)}`;
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
