/**
 * What a delegate did in a git worktree of its own, and how its parent takes that over or drops it. Opens no worktree itself. Taking
 * over writes nothing by itself either: each file is a call like any other, judged, recorded and undone as such.
 */
import { type FilePort, messageOf } from "#base";
import { type ToolContext, ToolError, type ToolOutput, textOutput } from "#engine";
import type { SessionId } from "#protocol";
import { removeTool, writeTool } from "#tools";

/** Worktrees of one session that work or wait for a decision. */
export const MAX_WORKTREES = 8;
/** Changed files of one worktree that can be taken over, and the size of each. */
const MAX_TAKEN_FILES = 200;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAMED = 50;

export interface WorktreeChange {
  /** From the folder that the delegate works in. */
  readonly path: string;
  readonly kind: "added" | "changed" | "removed";
  /** Names of the contents, as git has them: at the commit where the worktree began, and now. Absent: there is no such file. */
  readonly base?: string;
  readonly now?: string;
  /** A link or a submodule: not a file that can be taken over. */
  readonly isOther?: true;
}

export interface Worktree {
  /** Where the delegate works. */
  readonly folder: string;
  /** Compared with the commit where it began. Ignored files do not count. Rejects with a ToolError. */
  changes(): Promise<readonly WorktreeChange[]>;
  /** A file that was changed. Rejects with an EffectError. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
  /** The name of a content, as in a change. */
  nameOf(content: Uint8Array): string;
  /** Removes the folder, its branch and what git knows of it. */
  close(): Promise<void>;
}

/** Rejects with a ToolError: no repository, no commit, a branch that is there already. */
export type OpenWorktree = (workspace: string, name: string) => Promise<Worktree>;

/** Those of one session that wait for a decision, by the session of their delegate. */
export interface HeldWorktrees {
  readonly size: number;
  /** Keeps it when something was changed in it; what its parent is told. Never rejects. */
  keep(session: SessionId, worktree: Worktree): Promise<WorktreeNote>;
  take(task: unknown, context: ToolContext): Promise<ToolOutput>;
  drop(task: unknown): Promise<ToolOutput>;
  /** The session is over. */
  close(): Promise<void>;
}

export interface WorktreeNote {
  readonly changes?: readonly string[];
  readonly more?: number;
  readonly next?: string;
  readonly problem?: string;
}

export function createHeldWorktrees(): HeldWorktrees {
  const held = new Map<string, Worktree>();

  function find(task: unknown): Worktree {
    const worktree = typeof task === "string" ? held.get(task) : undefined;
    if (worktree !== undefined) return worktree;
    const known = [...held.keys()].join(", ") || "none";
    throw new ToolError(
      `No worktree of ${JSON.stringify(task)} waits for a decision. Waiting: ${known}.`,
      "KindDelegation",
    );
  }

  async function release(task: string): Promise<void> {
    const worktree = held.get(task);
    held.delete(task);
    await worktree?.close();
  }

  return {
    get size() {
      return held.size;
    },
    async keep(session, worktree) {
      try {
        const changes = await worktree.changes();
        if (changes.length === 0) {
          await worktree.close();
          return { changes: [] };
        }
        held.set(session, worktree);
        const named = changes.slice(0, MAX_NAMED).map(({ kind, path }) => `${kind} ${path}`);
        const next = `Nothing of this is in the workspace yet. worktree.take with task ${session} takes it over, worktree.drop drops it.`;
        return { changes: named, ...(changes.length > MAX_NAMED ? { more: changes.length - MAX_NAMED } : {}), next };
      } catch (error) {
        held.set(session, worktree);
        return { problem: messageOf(error), next: `worktree.drop with task ${session} drops it.` };
      }
    },
    async take(task, context) {
      const worktree = find(task);
      const output = await takeOver(worktree, await worktree.changes(), context);
      if (output.isError !== true) await release(String(task));
      return output;
    },
    async drop(task) {
      find(task);
      await release(String(task));
      return textOutput("Dropped: nothing of it is left.");
    },
    async close() {
      await Promise.all([...held.keys()].map(release));
    },
  };
}

/**
 * All files or, where one of them conflicts, none. A call that is refused ends it; what was taken over by then is named. The calls are
 * judged like any other, but the session need not offer their tools: many projects have tools of their own in their place.
 */
async function takeOver(
  worktree: Worktree,
  changes: readonly WorktreeChange[],
  context: ToolContext,
): Promise<ToolOutput> {
  if (changes.length > MAX_TAKEN_FILES)
    throw tooMuch(`${changes.length} files were changed, of at most ${MAX_TAKEN_FILES}`);
  const open: WorktreeChange[] = [];
  const conflicts: string[] = [];
  for (const change of changes) {
    const found = await nameIn(context.ports.files, change.path, worktree);
    if (found === change.now && change.isOther !== true) continue;
    if (change.isOther === true) conflicts.push(`${change.path}: a link or a submodule`);
    else if (found === change.base) open.push(change);
    else conflicts.push(`${change.path}: the workspace has another version than the commit where the worktree began`);
  }
  if (conflicts.length > 0)
    return failure(`Nothing was taken over. These conflict:\n${conflicts.slice(0, MAX_NAMED).join("\n")}`);
  const texts = new Map<string, string>();
  for (const { path, now } of open) if (now !== undefined) texts.set(path, await textOf(worktree, path));
  const taken: string[] = [];
  for (const { path } of open) {
    const content = texts.get(path);
    const output = await (content === undefined
      ? context.call(removeTool.name, { path }, { tool: removeTool })
      : context.call(writeTool.name, { path, content }, { tool: writeTool }));
    if (output.isError === true) {
      const before = taken.length === 0 ? "Nothing was taken over." : `Taken over before that: ${taken.join(", ")}.`;
      return {
        content: [{ type: "text", text: `${path} was not taken over. ${before}` }, ...output.content],
        isError: true,
      };
    }
    taken.push(path);
  }
  return textOutput(taken.length === 0 ? "The workspace has all of it already." : `Taken over: ${taken.join(", ")}.`);
}

async function nameIn(files: FilePort, path: string, worktree: Worktree): Promise<string | undefined> {
  const info = await files.stat(path);
  if (info === undefined) return undefined;
  if (info.kind !== "file" || info.sizeBytes > MAX_FILE_BYTES) return `a ${info.kind} of ${info.sizeBytes} bytes`;
  return worktree.nameOf(await files.read(path, MAX_FILE_BYTES));
}

async function textOf(worktree: Worktree, path: string): Promise<string> {
  const bytes = await worktree.read(path, MAX_FILE_BYTES);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw tooMuch(`${path} is not text`);
  }
}

function tooMuch(why: string): ToolError {
  return new ToolError(`This cannot be taken over: ${why}. Nothing was taken over.`, "KindDelegation");
}

function failure(text: string): ToolOutput {
  return { ...textOutput(text), isError: true };
}
