/**
 * Writes of several sessions that come in the same turn of the event loop share one synced step: the disk syncs as often as
 * it can, and each sync carries what has come meanwhile. Nobody is answered before that. A write that fails takes none of the
 * others with it; when the step itself fails, all of them have failed.
 */
import type { WriteGroups } from "./record-backend.ts";

/** More are left to the next step, so that it does not keep the event loop for long. */
const MAX_WRITES = 256;

export interface GroupedWrite<Value> {
  readonly value: Value;
  /** It is on disk. */
  committed(): void;
  /** It is not, because of something else. */
  rolledBack(): void;
}

export interface GroupCommit {
  /**
   * `write` is durable by itself, and a part of a larger step when there are others. It is called at once when it is alone, and in
   * the next turn otherwise. Throws or rejects with what `write` or the backend threw.
   */
  run<Value>(write: () => GroupedWrite<Value>, isAlone: boolean): Value | Promise<Value>;
  /** Writes at once what waits. */
  flush(): void;
}

interface Waiting {
  readonly write: () => GroupedWrite<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Written =
  | { readonly by: Waiting; readonly result: GroupedWrite<unknown> }
  | { readonly by: Waiting; readonly error: unknown };

/** Without `groups` every write is alone. */
export function createGroupCommit(groups: WriteGroups | undefined): GroupCommit {
  const waiting: Waiting[] = [];
  let isScheduled = false;

  function writeAll(groups: WriteGroups, batch: readonly Waiting[], written: Written[]): void {
    groups.run(() => {
      for (const by of batch) {
        try {
          written.push({ by, result: by.write() });
        } catch (error) {
          // A disk that is full ends the whole step: what was written before is gone, and what follows would stay alone.
          if (!groups.isRunning) throw error;
          written.push({ by, error });
        }
      }
    });
  }

  function commit(batch: readonly Waiting[]): void {
    const written: Written[] = [];
    try {
      // What is alone is a step by itself.
      if (groups === undefined || batch.length === 1) for (const by of batch) written.push({ by, result: by.write() });
      else writeAll(groups, batch, written);
    } catch (error) {
      for (const item of written.toReversed()) if ("result" in item) item.result.rolledBack();
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const item of written) {
      if ("error" in item) item.by.reject(item.error);
      else {
        item.result.committed();
        item.by.resolve(item.result.value);
      }
    }
  }

  function drain(): void {
    isScheduled = false;
    // The store may have been closed meanwhile; whoever waits was answered then.
    if (waiting.length > 0) commit(waiting.splice(0, MAX_WRITES));
    if (waiting.length > 0) schedule();
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(drain);
  }

  return {
    run(write, isAlone) {
      if (waiting.length === 0 && (isAlone || groups === undefined)) {
        const written = write();
        written.committed();
        return written.value;
      }
      return new Promise((resolve, reject) => {
        // The promise takes what `write` gives; the list holds writes of all kinds.
        waiting.push({ write, resolve: resolve as (value: unknown) => void, reject });
        schedule();
      });
    },
    flush() {
      while (waiting.length > 0) commit(waiting.splice(0, MAX_WRITES));
    },
  };
}
