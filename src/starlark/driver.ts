/** Runs generator programs: awaits what they yield, and ends them on abort or timeout even while a host call hangs. */
import { fault, StarlarkError } from "./errors.ts";
import { cancelled, type Thread, timedOut } from "./thread.ts";
import { encodeUtf8 } from "./utf8.ts";
import type { Value } from "./values.ts";

/** Resolves with the program's result. A yielded null asks for a turn of the event loop, anything else is a promise. */
export function drive(t: Thread, steps: Generator<unknown, Value, Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    let over = false;
    let timer: NodeJS.Timeout | null = null;
    const stop = (error: StarlarkError): void => resume(() => steps.throw(error));
    const onAbort = (): void => {
      if (t.signal !== null) stop(cancelled(t.signal));
    };
    const finish = (): void => {
      over = true;
      if (timer !== null) clearTimeout(timer);
      t.signal?.removeEventListener("abort", onAbort);
    };
    const watch = (): void => {
      if (timer !== null) return;
      timer = setTimeout(() => stop(timedOut()), Math.max(0, t.remainingMs()));
      t.signal?.addEventListener("abort", onAbort, { once: true });
    };
    const resume = (advance: () => IteratorResult<unknown, Value>): void => {
      if (over) return;
      try {
        const { done, value } = advance();
        if (done === true) {
          finish();
          resolve(value);
          return;
        }
        watch();
        if (t.signal?.aborted) {
          onAbort();
          return;
        }
        if (value === null) {
          setImmediate(() => {
            t.ticked();
            resume(() => steps.next(null));
          });
        } else {
          // The generator yields nothing but null and promises of values.
          (value as Promise<Value>).then(
            (v) => resume(() => steps.next(v)),
            (e: unknown) => resume(() => steps.throw(hostFailure(e))),
          );
        }
      } catch (e) {
        finish();
        reject(e);
      }
    };
    resume(() => steps.next(null));
  });
}

/** A failure of the host as an error of the script: its message, and the original only for the host. */
export function hostFailure(e: unknown): StarlarkError {
  if (e instanceof StarlarkError) return e;
  const error = fault(encodeUtf8(e instanceof Error ? e.message : String(e)));
  error.cause = e;
  return error;
}
