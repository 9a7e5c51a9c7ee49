/** What the conversation was before this interface followed it: pages of its log, read backwards and folded turn by turn. Pure. */
import type { Event, SessionId } from "#protocol";
import { foldedBlocks } from "./fold.ts";
import type { Block } from "./transcript.ts";

export interface Earlier {
  /** Oldest first. */
  readonly blocks: readonly Block[];
  /** The beginning of a turn that is on an older page. */
  readonly open: readonly Event[];
  /** Events before this id are not read yet; 1: there are none. */
  readonly before: number;
}

/** A turn that is longer is folded in pieces. */
const MAX_OPEN_EVENTS = 5_000;

export function withEarlier(known: Earlier, session: SessionId, page: readonly Event[]): Earlier {
  const [first] = page;
  const events = [...page, ...known.open];
  const before = first === undefined ? 1 : first.id;
  const isPiece = before > 1 && events.length <= MAX_OPEN_EVENTS;
  const turn = isPiece ? events.findIndex(({ kind }) => kind === "TurnStarted") : 0;
  if (turn < 0) return { ...known, open: events, before };
  const blocks = [...foldedBlocks(session, events.slice(turn)), ...known.blocks];
  return { blocks, open: events.slice(0, turn), before };
}
