/**
 * One call into a program: its step, memory, depth and time accounts, its print and host context. It never runs code; the
 * generated code and the built-ins charge it and it throws when an account is empty.
 */
import { overLimit, StarlarkError } from "./errors.ts";

/** Steps handed out at a time; clock and signal are looked at once for each. */
const SLICE = 10_000;
/** A generator program lets the event loop run after so long. */
const TICK_MS = 8;

export interface CallLimits {
  readonly maxSteps: number;
  readonly maxAllocBytes: number;
  readonly maxValueBytes: number;
  readonly maxDepth: number;
  readonly timeoutMs: number;
}

export const defaultLimits: CallLimits = {
  maxSteps: 10_000_000,
  maxAllocBytes: 256 * 1024 * 1024,
  maxValueBytes: 64 * 1024 * 1024,
  maxDepth: 256,
  timeoutMs: 10_000,
};

export interface ThreadOptions extends Partial<CallLimits> {
  readonly signal?: AbortSignal | undefined;
  /** Receives each printed line, decoded. */
  readonly print?: ((line: string) => void) | undefined;
  /** Whatever the host's built-ins need; scripts cannot see it. */
  readonly host?: unknown;
}

export class Thread {
  /** Steps left in the current slice. Generated code counts it down. */
  fuel: number;
  /** Bytes that may still be allocated. */
  memory: number;
  depth = 0;
  readonly maxDepth: number;
  readonly maxValueBytes: number;
  readonly print: ((line: string) => void) | null;
  readonly host: unknown;
  readonly signal: AbortSignal | null;
  private slice: number;
  private used = 0;
  private readonly maxSteps: number;
  private readonly timeoutMs: number;
  /** Clock reading when the first slice was used up; short calls never look at the clock. */
  private started = -1;
  private lastTick = 0;
  private activeSet: Set<object> | null = null;

  /** Fails if the signal is aborted already: such a call must not begin. */
  constructor(options: ThreadOptions) {
    if (options.signal?.aborted) throw cancelled(options.signal);
    this.maxSteps = options.maxSteps ?? defaultLimits.maxSteps;
    this.slice = Math.min(SLICE, this.maxSteps);
    this.fuel = this.slice;
    this.memory = options.maxAllocBytes ?? defaultLimits.maxAllocBytes;
    this.maxDepth = options.maxDepth ?? defaultLimits.maxDepth;
    this.maxValueBytes = options.maxValueBytes ?? defaultLimits.maxValueBytes;
    this.timeoutMs = options.timeoutMs ?? defaultLimits.timeoutMs;
    this.print = options.print ?? null;
    this.host = options.host;
    this.signal = options.signal ?? null;
  }

  /** Functions being executed, where calls interleave (generator programs). */
  get active(): Set<object> {
    this.activeSet ??= new Set();
    return this.activeSet;
  }

  /** Milliseconds left. Starts the clock. */
  remainingMs(): number {
    const now = performance.now();
    if (this.started < 0) {
      this.started = now;
      this.lastTick = now;
    }
    return this.started + this.timeoutMs - now;
  }

  /** Steps taken so far: the same for the same program and input. */
  get steps(): number {
    return this.used + this.slice - this.fuel;
  }

  /** Called when `fuel` is below zero. True if the event loop should run before going on. */
  refuel(): boolean {
    this.used += this.slice - this.fuel;
    if (this.used > this.maxSteps) {
      this.fuel = this.slice = 0;
      throw overLimit("steps", `too many steps (limit ${this.maxSteps})`);
    }
    this.slice = Math.min(SLICE, this.maxSteps - this.used);
    this.fuel = this.slice;
    this.checkClock();
    const now = performance.now();
    if (now - this.lastTick < TICK_MS) return false;
    this.lastTick = now;
    return true;
  }

  /** The event loop has run. */
  ticked(): void {
    this.lastTick = performance.now();
  }

  /** Fails if the call was cancelled or is out of time. */
  checkClock(): void {
    if (this.signal?.aborted) throw cancelled(this.signal);
    if (this.remainingMs() < 0) throw timedOut();
  }

  /** Accounts for n steps of work at once. */
  charge(n: number): void {
    this.fuel -= n;
    if (this.fuel < 0) this.refuel();
  }

  /** Accounts for memory before it is allocated. */
  alloc(bytes: number): void {
    this.memory -= bytes;
    if (this.memory < 0) throw overLimit("memory", "too much memory used by this call");
  }

  /** As `alloc`, for one value of this size. */
  allocValue(bytes: number): void {
    if (bytes > this.maxValueBytes) throw overLimit("size", `value too large (limit ${this.maxValueBytes} bytes)`);
    this.alloc(bytes);
  }

  tooDeep(): StarlarkError {
    return overLimit("depth", `call stack too deep (limit ${this.maxDepth})`);
  }
}

export function cancelled(signal: AbortSignal): StarlarkError {
  return new StarlarkError("cancelled", "Starlark computation cancelled", { cause: signal.reason });
}

export function timedOut(): StarlarkError {
  return overLimit("time", "Starlark computation took too long");
}
