/** Runs generator programs: awaits what they yield, and ends them on abort or timeout even while a host call hangs. */
import { fault, StarlarkError } from "./errors.ts";
import { cancelled, type Thread, timedOut } from "./thread.ts";
import { encodeUtf8 } from "./values/utf8.ts";
import type { Value } from "./values/values.ts";

/** Resolves with the program's result. A yielded null asks for a turn of the event loop, anything else is a promise. */
export function drive(t: Thread, steps: Generator<unknown, Value, Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    new Drive(t, steps, resolve, reject).next(null);
  });
}

class Drive {
  private readonly t: Thread;
  private readonly steps: Generator<unknown, Value, Value>;
  private readonly resolve: (v: Value) => void;
  private readonly reject: (e: unknown) => void;
  private over = false;
  /** The generator is at work: an abort from inside a built-in is noticed when it next waits. */
  private running = false;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    t: Thread,
    steps: Generator<unknown, Value, Value>,
    resolve: (v: Value) => void,
    reject: (e: unknown) => void,
  ) {
    this.t = t;
    this.steps = steps;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** Goes on with the value of what was awaited. */
  readonly next = (value: unknown): void => {
    // Whatever was awaited is made a Value inside the generator.
    this.advance(() => this.steps.next(value as Value));
  };

  /** Goes on with a failure: frames are added to it on its way out. */
  readonly throw = (e: unknown): void => {
    this.advance(() => this.steps.throw(hostFailure(e)));
  };

  private advance(step: () => IteratorResult<unknown, Value>): void {
    if (this.over || this.running) return;
    this.running = true;
    try {
      const result = step();
      this.running = false;
      this.wait(result);
    } catch (e) {
      this.fail(e);
    }
  }

  private readonly tick = (): void => {
    this.t.ticked();
    this.next(null);
  };

  private readonly onAbort = (): void => {
    if (this.t.signal !== null) this.throw(cancelled(this.t.signal));
  };

  private wait(step: IteratorResult<unknown, Value>): void {
    if (step.done === true) {
      this.finish();
      this.resolve(step.value);
      return;
    }
    if (this.timer === null) this.watch();
    if (this.t.signal?.aborted) this.onAbort();
    else if (step.value instanceof Promise) step.value.then(this.next, this.throw);
    else setImmediate(this.tick);
  }

  /** From the first suspension on, time and signal end the call even while the host is busy. */
  private watch(): void {
    this.timer = setTimeout(() => this.throw(timedOut()), Math.max(0, this.t.remainingMs()));
    this.t.signal?.addEventListener("abort", this.onAbort, { once: true });
  }

  private finish(): void {
    this.over = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.t.signal?.removeEventListener("abort", this.onAbort);
  }

  private fail(e: unknown): void {
    this.finish();
    this.reject(e);
  }
}

/** A failure of the host as an error of the script: its message, and the original only for the host. */
export function hostFailure(e: unknown): StarlarkError {
  if (e instanceof StarlarkError) return e;
  const error = fault(encodeUtf8(e instanceof Error ? e.message : String(e)));
  error.cause = e;
  return error;
}
