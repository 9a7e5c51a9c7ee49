/** The redaction that ships with the program, broken at chosen calls: it throws there, or gives back something else. */
import { defaultSettings } from "#artifacts";
import type { RedactedStream, Redaction } from "#engine";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";
import { loadRedaction } from "../../src/program/redaction.ts";

export type BreakingPart = "payload" | "output" | "request" | "stream" | "push" | "settle" | "flush";

export interface Breakage {
  /** Asked at each call, which are numbered from 1 in each part. */
  readonly breaks: (part: BreakingPart, call: number) => boolean;
  /** What it gives back there; absent: it throws. */
  readonly garbage?: { readonly value: unknown };
  readonly onBreak?: () => void;
}

/** The message of what it throws holds what must not leave, as a careless one would. */
export async function brokenRedaction(
  env: Readonly<Record<string, string | undefined>>,
  { breaks, garbage, onBreak }: Breakage,
): Promise<Redaction> {
  const real = await loadRedaction({
    settings: defaultSettings,
    env,
    clock: createSystemClock(),
    credentials: createHeldKeys(env),
  });
  const calls = new Map<BreakingPart, number>();
  function attempt<Result>(part: BreakingPart, given: unknown, work: () => Result): Result {
    const call = (calls.get(part) ?? 0) + 1;
    calls.set(part, call);
    if (!breaks(part, call)) return work();
    onBreak?.();
    if (garbage === undefined) throw new Error(`cannot redact ${JSON.stringify(given)}`);
    // Garbage is what the type does not allow.
    return garbage.value as Result;
  }
  return {
    payload: (kind, payload) => attempt("payload", payload, () => real.payload(kind, payload)),
    output: (content) => attempt("output", content, () => real.output(content)),
    request: (request) => attempt("request", request, () => real.request(request)),
    stream: () =>
      attempt("stream", "", (): RedactedStream => {
        const stream = real.stream();
        return {
          push: (text) => attempt("push", text, () => stream.push(text)),
          settle: () => attempt("settle", "", () => stream.settle()),
          flush: () => attempt("flush", "", () => stream.flush()),
          get heldChars() {
            return stream.heldChars;
          },
        };
      }),
  };
}
