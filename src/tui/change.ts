/**
 * The change to a file that a call would make, as hunks that a person takes one by one, and the call that makes only those that they
 * took. Pure. Lines are compared exactly; a carriage return is part of its line.
 */
import { type DiffLine, diffLines, isRecord } from "#base";
import type { EventOf } from "#protocol";

type Asked = Pick<EventOf<"PermissionRequested">["payload"], "name" | "args" | "before">;

export interface FileChange {
  readonly path: string;
  /** Lines of the text before the change; of an edit, of the piece that it replaces. */
  readonly lines: readonly DiffLine[];
  readonly hunks: readonly Hunk[];
  /** Nothing is known to be there now. */
  readonly isNew: boolean;
  /** Only a piece of the file is known, so that its lines have no numbers. */
  readonly isPiece: boolean;
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
  const texts = isRecord(args) ? textsOf(name, args, before) : undefined;
  if (texts === undefined || !isRecord(args) || typeof args.path !== "string") return undefined;
  return fileChange(args.path, texts.before, texts.after, { isNew: texts.isNew, isPiece: name === "fs.edit" });
}

export function fileChange(
  path: string,
  before: string,
  after: string,
  facts: Pick<FileChange, "isNew" | "isPiece">,
): FileChange {
  const lines = facts.isNew ? after.split("\n").map(added) : diffLines(before.split("\n"), after.split("\n"));
  const hunks: Hunk[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.mark === " ") continue;
    const from = at;
    while (at < lines.length && lines[at]?.mark !== " ") at++;
    hunks.push({ from, to: at });
  }
  return { path, lines, hunks, ...facts };
}

/** The arguments with the hunks that were taken; the others stay as the text was. */
export function argsWith({ name, args }: Asked, change: FileChange, verdicts: Verdicts): Record<string, unknown> {
  const field = name === "fs.edit" ? "new_text" : "content";
  return { ...(isRecord(args) ? args : {}), [field]: textWith(change, verdicts) };
}

export function textWith({ lines, hunks }: FileChange, verdicts: Verdicts): string {
  const rejected = hunks.filter((_, at) => verdicts[at] !== true);
  const kept = lines.filter(({ mark }, at) => {
    if (mark === " ") return true;
    const isRejected = rejected.some(({ from, to }) => at >= from && at < to);
    return mark === (isRejected ? "-" : "+");
  });
  return kept.map(({ text }) => text).join("\n");
}

function textsOf(name: string, args: Record<string, unknown>, before: string | undefined) {
  const { old_text: old, new_text: replacement, content } = args;
  if (name === "fs.edit" && typeof old === "string" && typeof replacement === "string") {
    return { before: old, after: replacement, isNew: false };
  }
  if (name === "fs.write" && typeof content === "string") {
    return { before: before ?? "", after: content, isNew: before === undefined };
  }
  return undefined;
}

function added(text: string): DiffLine {
  return { mark: "+", text };
}
