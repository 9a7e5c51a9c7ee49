/** A store that remembers how its last write went, so that health can tell a disk that takes nothing from one that does. */
import { defined, messageOf } from "#base";
import type { SessionLog, SessionStore } from "#engine";
import { ReasonError } from "#protocol";

export interface WriteHealth {
  /** Writes that failed since the program began. */
  readonly failedWrites: number;
  /** What the last write failed with; absent when it did not. */
  readonly problem?: string;
}

export function watchWrites<Store extends SessionStore>(
  store: Store,
): { readonly store: Store; readonly health: () => WriteHealth } {
  let failedWrites = 0;
  let problem: string | undefined;

  /** The same promise: nobody waits longer because somebody watches. */
  function watched<Result>(written: Promise<Result>): Promise<Result> {
    written.then(
      () => {
        problem = undefined;
      },
      (error: unknown) => {
        // What was asked for wrongly says nothing about the disk.
        if (!(error instanceof ReasonError) || error.reason !== "StoreFailed") return;
        failedWrites += 1;
        problem = messageOf(error);
      },
    );
    return written;
  }

  const watchedLog = (log: SessionLog): SessionLog => ({
    ...log,
    append: (drafts, now) => watched(log.append(drafts, now)),
    release: () => watched(log.release()),
  });

  return {
    store: {
      ...store,
      create: (session) => watched(store.create(session)),
      update: (id, change) => watched(store.update(id, change)),
      delete: (id) => watched(store.delete(id)),
      acquire: async (id) => watchedLog(await watched(store.acquire(id))),
    },
    health: () => ({ failedWrites, ...defined({ problem }) }),
  };
}

/** One of a plugin is used as it is: it may be anything that has the methods. */
export function unwatched(store: SessionStore): { readonly store: SessionStore; readonly health: () => WriteHealth } {
  return { store, health: () => ({ failedWrites: 0 }) };
}
