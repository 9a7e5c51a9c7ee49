/**
 * The change to a file that a call would make, as hunks that a person takes one by one, and the call that makes only those that they
 * took. Pure. Lines are compared exactly; a carriage return is part of its line.
 */
import { type DiffLine, diffLines, isRecord } from "#base";
import type { EventOf } from "#protocol";

type Asked = Pick<EventOf<"PermissionRequested">["payload"], "name" | "args" | "before">;

export interface FileChange {
  readonly path: string;
  /** Of the whole file; of an edit whose place in it is not known, of the piece that it replaces. */
  readonly lines: readonly DiffLine[];
  readonly hunks: readonly Hunk[];
  /** Nothing is known to be there now. */
  readonly isNew: boolean;
  /** Only a piece of the file is known, so that its lines have no numbers. */
  readonly isPiece: boolean;
  /** Of an edit whose place in the file is known: the lines with what it replaces. */
  readonly edited?: Hunk;
}

/** Changed lines without an unchanged one between them. */
export interface Hunk {
  /** Of `lines`. */
  readonly from: number;
  readonly to: number;
}

export type Verdicts = Readonly<Record<number, boolean>>;

/** Undefined for a call that changes no text that is known. */
export function changeOf({ name, args, before }: Asked): FileChange | undefined {
  if (!isRecord(args) || typeof args.path !== "string") return undefined;
  const { path, old_text: old, new_text: replacement, content, all } = args;
  if (name === "fs.write" && typeof content === "string") {
    return fileChange(path, before ?? "", content, { isNew: before === undefined });
  }
  if (name !== "fs.edit" || typeof old !== "string" || typeof replacement !== "string") return undefined;
  const placed = all === true || before === undefined ? undefined : placedEdit(path, before, old, replacement);
  return placed ?? { ...fileChange(path, old, replacement, { isNew: false }), isPiece: true };
}

export function fileChange(
  path: string,
  before: string,
  after: string,
  { isNew }: Pick<FileChange, "isNew">,
): FileChange {
  const lines = isNew ? after.split("\n").map(added) : diffLines(before.split("\n"), after.split("\n"));
  return { path, lines, hunks: hunksOf(lines), isNew, isPiece: false };
}

/** The edit in its file. Undefined if the text stands there in no place, or in several. */
function placedEdit(path: string, before: string, old: string, replacement: string): FileChange | undefined {
  const at = before.indexOf(old);
  if (old === "" || at < 0 || before.indexOf(old, at + 1) >= 0) return undefined;
  const from = before.lastIndexOf("\n", at - 1) + 1;
  const newline = before.indexOf("\n", at + old.length);
  const to = newline < 0 ? before.length : newline;
  const ahead =
    from === 0
      ? []
      : before
          .slice(0, from - 1)
          .split("\n")
          .map(unchanged);
  const behind =
    newline < 0
      ? []
      : before
          .slice(newline + 1)
          .split("\n")
          .map(unchanged);
  const text = `${before.slice(from, at)}${replacement}${before.slice(at + old.length, to)}`;
  // What stands around it is not compared: no hunk is where the edit is not.
  const changed = diffLines(before.slice(from, to).split("\n"), text.split("\n"));
  const lines = [...ahead, ...changed, ...behind];
  const edited = { from: ahead.length, to: ahead.length + changed.length };
  return { path, lines, hunks: hunksOf(lines), isNew: false, isPiece: false, edited };
}

function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.mark === " ") continue;
    const from = at;
    while (at < lines.length && lines[at]?.mark !== " ") at++;
    hunks.push({ from, to: at });
  }
  return hunks;
}

/** The arguments with the hunks that were taken; the others stay as the text was. */
export function argsWith({ name, args }: Asked, change: FileChange, verdicts: Verdicts): Record<string, unknown> {
  const own = isRecord(args) ? args : {};
  const { edited } = change;
  if (edited !== undefined) {
    // Whole lines: what a hunk leaves as it was may be more than the text that was to be replaced.
    const [from, to] = [edited.from, edited.to];
    const old = change.lines.slice(from, to).filter(({ mark }) => mark !== "+");
    return { ...own, old_text: textOf(old), new_text: textWith(change, verdicts, edited) };
  }
  return { ...own, [name === "fs.edit" ? "new_text" : "content"]: textWith(change, verdicts) };
}

export function textWith(
  { lines, hunks }: FileChange,
  verdicts: Verdicts,
  { from: first, to: end }: Hunk = { from: 0, to: lines.length },
): string {
  const rejected = hunks.filter((_, at) => verdicts[at] !== true);
  const kept = lines.filter(({ mark }, at) => {
    if (at < first || at >= end) return false;
    if (mark === " ") return true;
    const isRejected = rejected.some(({ from, to }) => at >= from && at < to);
    return mark === (isRejected ? "-" : "+");
  });
  return textOf(kept);
}

function textOf(lines: readonly DiffLine[]): string {
  return lines.map(({ text }) => text).join("\n");
}

function added(text: string): DiffLine {
  return { mark: "+", text };
}

function unchanged(text: string): DiffLine {
  return { mark: " ", text };
}
