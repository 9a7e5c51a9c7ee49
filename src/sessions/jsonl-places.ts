/** Where in a file of events to start reading, remembered now and then, so that a page deep in a long session is near. */
import type { SessionId } from "#protocol";

const EVERY = 512;
/** Sessions that are remembered; the one that was used longest ago is forgotten. */
const MAX_SESSIONS = 32;

export interface FilePlaces {
  /** The last known place at or before the event `id`. */
  before(id: number): { readonly id: number; readonly offset: number };
  mark(id: number, offset: number): void;
}

export interface Places {
  /** `file` tells a file from a later one of the same session. */
  of(session: SessionId, file: number): FilePlaces;
  forget(session: SessionId): void;
}

export function createPlaces(): Places {
  const sessions = new Map<SessionId, { readonly file: number; readonly offsets: number[] }>();
  return {
    of(session, file) {
      const known = sessions.get(session);
      const entry = known?.file === file ? known : { file, offsets: [] };
      sessions.delete(session);
      sessions.set(session, entry);
      const oldest = sessions.keys().next();
      if (sessions.size > MAX_SESSIONS && !oldest.done) sessions.delete(oldest.value);
      const { offsets } = entry;
      return {
        before(id) {
          const index = Math.min(Math.floor((id - 1) / EVERY), offsets.length - 1);
          return index < 0 ? { id: 1, offset: 0 } : { id: index * EVERY + 1, offset: offsets[index] ?? 0 };
        },
        mark(id, offset) {
          if ((id - 1) % EVERY === 0 && (id - 1) / EVERY === offsets.length) offsets.push(offset);
        },
      };
    },
    forget: (session) => void sessions.delete(session),
  };
}
