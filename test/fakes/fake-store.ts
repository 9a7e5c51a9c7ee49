/** The smallest session store: arrays in memory, with a switch that makes writes fail. For engine tests. */
import type { EventDraft, SessionLog, SessionMeta, SessionStore } from "#engine";
import type { Event, SessionId } from "#protocol";

export interface FakeStore extends SessionStore {
  /** The writing end of the one session. */
  log(session: SessionId): SessionLog;
  readonly events: Event[];
  readonly batches: number[];
  failWith: Error | undefined;
}

export function createFakeStore(): FakeStore {
  const events: Event[] = [];
  const batches: number[] = [];
  const store: FakeStore = {
    events,
    batches,
    failWith: undefined,
    create: async () => undefined,
    get: async (): Promise<SessionMeta | undefined> => undefined,
    list: async () => [],
    update: async () => undefined,
    delete: async () => undefined,
    acquire: async (session) => store.log(session),
    log: (session) => ({
      async append(drafts: readonly EventDraft[]) {
        if (store.failWith !== undefined) throw store.failWith;
        const first = events.length + 1;
        batches.push(drafts.length);
        // A draft with an id and a session is an event of the same kind.
        drafts.forEach((draft, index) => {
          events.push({ id: first + index, session, ...draft } as Event);
        });
        return first;
      },
      openCalls: async () => [],
      release: async () => undefined,
    }),
    read: async (_id, { after, limit }) => events.filter((event) => event.id > after).slice(0, limit),
    close: async () => undefined,
  };
  return store;
}
