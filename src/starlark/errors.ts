/**
 * The one error type of the language: what went wrong, where, and through which Starlark frames it passed. Messages are in
 * starlark-go's wording; while a program runs they are byte strings (see utf8.ts) and are decoded when the error leaves.
 */
import { decodeUtf8 } from "./values/utf8.ts";

/** Where a person looks: line and column count from 1, the column in code points. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Frame {
  readonly name: string;
  readonly position: Position | null;
}

/** One finding of the scanner, parser or resolver. */
export interface Issue {
  readonly position: Position;
  readonly message: string;
}

export type ErrorKind = "syntax" | "resolve" | "runtime" | "limit" | "cancelled" | "internal";
export type LimitName = "steps" | "memory" | "time" | "depth" | "size";

export function formatPosition(p: Position): string {
  return `${p.file}:${p.line}:${p.column}`;
}

/**
 * Thrown for everything that can go wrong in a script. `frames` is outermost first and ends with the built-in (position null)
 * if one failed; `issues` lists all static errors of a program that did not compile.
 */
export class StarlarkError extends Error {
  override readonly name = "StarlarkError";
  readonly kind: ErrorKind;
  readonly limit: LimitName | null;
  readonly issues: readonly Issue[];
  frames: readonly Frame[] = [];
  /** Frames innermost first while the error travels; `seal` turns them round. Not for hosts. */
  readonly trail: Frame[] = [];
  /** The position inside a comprehension, to be claimed by the function that contains it. Not for hosts. */
  pinned = -1;
  private sealed = false;

  constructor(
    kind: ErrorKind,
    message: string,
    extra: { limit?: LimitName; issues?: readonly Issue[]; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.kind = kind;
    this.limit = extra.limit ?? null;
    this.issues = extra.issues ?? [];
  }

  /** Decodes the message and fixes the frames. Called once, where the error leaves the interpreter. */
  seal(): this {
    if (this.sealed) return this;
    this.sealed = true;
    this.message = decodeUtf8(this.message);
    this.frames = this.trail.map((f) => ({ ...f, name: decodeUtf8(f.name) })).reverse();
    return this;
  }

  /** The text starlark-go prints: a traceback, then the error. */
  backtrace(): string {
    const lines: string[] = [];
    let suffix = "";
    const stack = [...this.frames];
    const last = stack.at(-1);
    if (last && last.position === null) {
      suffix = ` in ${last.name}`;
      stack.pop();
    }
    if (stack.length > 0) lines.push("Traceback (most recent call last):");
    for (const f of stack) lines.push(`  ${f.position ? formatPosition(f.position) : "<builtin>"}: in ${f.name}`);
    lines.push(`Error${suffix}: ${this.message}`);
    return lines.join("\n");
  }
}

/** An error of the running program. */
export function fault(message: string): StarlarkError {
  return new StarlarkError("runtime", message);
}

/** A bound was reached; `limit` says which. */
export function overLimit(limit: LimitName, message: string): StarlarkError {
  return new StarlarkError("limit", message, { limit });
}

/** Several static errors as one throwable; the message is that of the first. */
export function staticError(kind: "syntax" | "resolve", issues: readonly Issue[]): StarlarkError {
  const first = issues[0];
  const message = first ? `${formatPosition(first.position)}: ${first.message}` : "no errors";
  return new StarlarkError(kind, message, { issues });
}
