/** Where readers of a file of events stand, so that the next page of each begins there. Bounded; what is forgotten is found again. */
import type { SessionId } from "#protocol";
import type { FilePlace } from "./seek.ts";

/** Sessions that are remembered; the one that was used longest ago is forgotten. */
const MAX_SESSIONS = 32;
/** Of one session: about as many readers go on without a search. */
const MAX_PLACES = 64;

const START: FilePlace = { id: 1, offset: 0 };

export interface FilePlaces {
  /** The last known place at or before the event `id`. */
  before(id: number): FilePlace;
  mark(place: FilePlace): void;
}

export interface Places {
  /** `file` tells a file from a later one of the same session. */
  of(session: SessionId, file: number): FilePlaces;
  forget(session: SessionId): void;
}

export function createPlaces(): Places {
  /** Both in the order of their use, the oldest first. Of a session: offsets by event. */
  const sessions = new Map<SessionId, { readonly file: number; readonly offsets: Map<number, number> }>();
  return {
    of(session, file) {
      const known = sessions.get(session);
      const entry = known?.file === file ? known : { file, offsets: new Map<number, number>() };
      sessions.delete(session);
      sessions.set(session, entry);
      dropOldest(sessions, MAX_SESSIONS);
      const { offsets } = entry;
      return {
        before(id) {
          let nearest = START;
          for (const [known, offset] of offsets) {
            if (known <= id && known > nearest.id) nearest = { id: known, offset };
          }
          return nearest;
        },
        mark({ id, offset }) {
          offsets.delete(id);
          offsets.set(id, offset);
          dropOldest(offsets, MAX_PLACES);
        },
      };
    },
    forget: (session) => void sessions.delete(session),
  };
}

function dropOldest<Key>(map: Map<Key, unknown>, max: number): void {
  const oldest = map.keys().next();
  if (map.size > max && !oldest.done) map.delete(oldest.value);
}
