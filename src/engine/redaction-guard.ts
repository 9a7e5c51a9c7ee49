/**
 * Holds a redaction to its contract. What it throws becomes `RedactionFailed`, and so does an answer that cannot be what was asked
 * for: something of another form than what went in. Whether the right words were replaced nobody can check here.
 */
import { isRecord } from "#base";
import { ReasonError } from "#protocol";
import type { RedactedStream, Redaction } from "./redaction.ts";

/** `onFailure` is called for each failure before it is thrown, so that the running turn can be stopped. */
export function guardRedaction(redaction: Redaction, onFailure: (error: ReasonError) => void): Redaction {
  function guarded<Result>(work: () => Result, isSound: (result: Result) => boolean): Result {
    try {
      const result = work();
      if (isSound(result)) return result;
      throw new ReasonError("RedactionFailed", "redaction returned a value of another kind");
    } catch (cause) {
      const failure = redactionFailure(cause);
      onFailure(failure);
      throw failure;
    }
  }

  return {
    payload: (kind, payload) =>
      guarded(
        () => redaction.payload(kind, payload),
        (result) => hasForm(payload, result),
      ),
    output: (content) =>
      guarded(
        () => redaction.output(content),
        (result) => hasForm(content, result),
      ),
    request: (request) =>
      guarded(
        () => redaction.request(request),
        (result) => hasForm(request, result),
      ),
    stream() {
      const stream = guarded(
        () => redaction.stream(),
        (made) => STREAM_METHODS.every((name) => typeof made[name] === "function"),
      );
      return {
        push: (text) => guarded(() => stream.push(text), isText),
        settle: () => guarded(() => stream.settle(), isText),
        flush: () => guarded(() => stream.flush(), isText),
        get heldChars() {
          return stream.heldChars;
        },
      };
    },
    summary: (payload) => redaction.summary?.(payload),
  };
}

const STREAM_METHODS = ["push", "settle", "flush"] as const satisfies readonly (keyof RedactedStream)[];
const METHODS = ["payload", "output", "request", "stream"] as const satisfies readonly (keyof Redaction)[];

/** Rejects with RedactionFailed, whatever `load` does. */
export async function loadedRedaction(load: () => Promise<Redaction>): Promise<Redaction> {
  try {
    const redaction = await load();
    if (METHODS.every((name) => typeof redaction[name] === "function")) return redaction;
    throw new ReasonError("RedactionFailed", "the loaded module is not a redactor");
  } catch (cause) {
    throw redactionFailure(cause);
  }
}

/** Nothing but a typed error comes out of a failed redaction; its message holds no text. */
export function redactionFailure(cause: unknown): ReasonError {
  if (cause instanceof ReasonError && cause.reason === "RedactionFailed") return cause;
  return new ReasonError("RedactionFailed", `an unexpected ${cause instanceof Error ? cause.name : "failure"}`);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/**
 * Whether `after` can be `before` without its secrets: texts and numbers may have become texts, names of fields may have changed,
 * and a field may be gone. What was not touched is the same object and is not looked at.
 */
function hasForm(before: unknown, after: unknown): boolean {
  if (before === after) return true;
  if (typeof before === "string" || typeof before === "number" || typeof before === "bigint") return isText(after);
  if (Array.isArray(before)) {
    return (
      Array.isArray(after) && after.length === before.length && before.every((item, at) => hasForm(item, after[at]))
    );
  }
  if (!isRecord(before) || !isRecord(after)) return false;
  const names = Object.keys(after);
  if (names.length > Object.keys(before).length || names.length < Object.keys(before).length - DROPPED_FIELDS) {
    return false;
  }
  return names.every((name) => !Object.hasOwn(before, name) || hasForm(before[name], after[name]));
}

/** The block of reasoning that a provider takes back unchanged or not at all. */
const DROPPED_FIELDS = 1;
