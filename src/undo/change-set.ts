/** What one call changed in the workspace, as recorded: pure data and how two states compare. */
import type { CallId, SessionId, TurnId } from "#protocol";

/** An entry of the workspace as it was. `hash` names its content in the content store. */
export type EntryState =
  | { readonly kind: "file"; readonly mode: number; readonly size: number; readonly hash: string }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number };

/** null: nothing was there. */
export type MaybeState = EntryState | null;

export interface FileChange {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  readonly before: MaybeState;
  readonly after: MaybeState;
  /** When the file or link that the call found was last written, in nanoseconds; absent where there was none. */
  readonly foundAt?: string;
  /** When the one that the call left was: another time means that somebody has written it again. */
  readonly leftAt?: string;
  /** When the one was that the last undo or redo of this change has put there. */
  readonly restoredAt?: string;
}

/** A file or link that a call wrote again as it was. */
export interface RewrittenPath extends Required<Pick<FileChange, "path" | "foundAt" | "leftAt">> {}

/** What undo leaves alone, and says so. */
export interface UncoveredPath {
  readonly path: string;
  readonly why: string;
}

export interface ChangeSet {
  readonly call: CallId;
  readonly turn: TurnId;
  readonly session: SessionId;
  readonly tool: string;
  /** Milliseconds since the epoch; with `order` the place among the sets of a workspace. */
  readonly time: number;
  readonly order: number;
  readonly files: readonly FileChange[];
  /** Changed, but without its content being known. */
  readonly uncovered: readonly UncoveredPath[];
  /** Not looked at, so it may have changed. */
  readonly leftOut: readonly UncoveredPath[];
  /** When it was undone; all sets of one undo carry the same time. Absent: it is in effect. */
  readonly undoneAt?: number;
}

/** A call whose record was begun and never finished: the program stopped while it ran. */
export interface OpenCall extends Pick<ChangeSet, "call" | "turn" | "session" | "tool" | "time"> {
  /** What it was going to touch; absent for a command, which may touch anything. */
  readonly paths?: readonly string[];
}

export function sameState(a: MaybeState, b: MaybeState): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "file") return b.kind === "file" && a.hash === b.hash && a.mode === b.mode;
  if (a.kind === "symlink") return b.kind === "symlink" && a.target === b.target;
  return b.kind === "directory" && a.mode === b.mode;
}

/** How `present` differs from what was expected, for a person. */
export function difference(expected: MaybeState, present: MaybeState | "other" | "unknown"): string {
  if (present === "other") return "is no longer a file, a symbolic link or a directory";
  if (present === "unknown") return "can no longer be compared (it is too large or not readable)";
  if (present === null) return "no longer exists";
  if (expected === null) return `now exists (a ${present.kind})`;
  if (present.kind !== expected.kind) return `is now a ${present.kind}, was a ${expected.kind}`;
  if (present.kind === "symlink") return "now points to another target";
  if (present.kind === "file" && expected.kind === "file" && present.hash !== expected.hash) {
    return "now has different contents";
  }
  const modes = expected.kind === "symlink" ? "" : `: ${octal(present.mode)}, was ${octal(expected.mode)}`;
  return `now has a different mode${modes}`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}
