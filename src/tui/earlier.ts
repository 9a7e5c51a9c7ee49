/**
 * What the conversation was before the blocks that this interface holds: stretches of its log, read backwards and folded turn by turn.
 * Of a stretch far from what is looked at only the number of its blocks is left; it is read again when somebody comes near. Pure.
 */
import type { Event, SessionId } from "#protocol";
import { foldedBlocks } from "./fold.ts";
import { type Block, sizeOf } from "./transcript.ts";

/** Events from `from` on and before `to`. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Absent: to be read again. */
  readonly blocks: readonly Block[] | undefined;
  readonly size: number;
}

export interface Earlier {
  /** Oldest first, without gaps. */
  readonly stretches: readonly Stretch[];
  /** Blocks of all of them. */
  readonly count: number;
  /** The beginning of a turn that is on an older page. */
  readonly open: readonly Event[];
  /** Events before this id are not read yet; 1: there are none. */
  readonly before: number;
  /** The event at which what the interface holds begins. */
  readonly to: number;
}

/** Blocks by their index, the oldest of all stretches has 0. */
export interface Near {
  readonly first: number;
  readonly last: number;
}

/** A turn that is longer is folded in pieces. */
const MAX_OPEN_EVENTS = 5_000;
/** Of the stretches around what is looked at; what is in sight is kept in any case. */
const MAX_KEPT_SIZE = 2_000_000;

export function nothingEarlier(to: number): Earlier {
  return { stretches: [], count: 0, open: [], before: to, to };
}

/** With the events right before those that are known. */
export function withEarlier(known: Earlier, session: SessionId, page: readonly Event[]): Earlier {
  const [first] = page;
  const events = [...page, ...known.open];
  const before = first === undefined ? 1 : first.id;
  const isPiece = before > 1 && events.length <= MAX_OPEN_EVENTS;
  const turn = isPiece ? events.findIndex(({ kind }) => kind === "TurnStarted") : 0;
  if (turn < 0) return { ...known, open: events, before };
  const from = events[turn]?.id ?? before;
  const to = known.stretches[0]?.from ?? known.to;
  const read = folded(session, events.slice(turn), { from, to });
  const stretches = [read, ...known.stretches];
  return { ...known, stretches, count: known.count + read.count, open: events.slice(0, turn), before };
}

/** With what the interface has let go of meanwhile: so many blocks before the event `to`. */
export function withLetGo(known: Earlier, count: number, to: number): Earlier {
  const left = { from: known.to, to, count, blocks: undefined, size: 0 };
  return { ...known, stretches: [...known.stretches, left], count: known.count + count, to };
}

/** The number of blocks before `index` may change: what the interface said itself is not in the log. */
export interface ReadAgain {
  readonly earlier: Earlier;
  /** From this index on blocks stand `by` further down. */
  readonly from: number;
  readonly by: number;
}

/** A stretch with its events again. Of a very long one, what is missing at its beginning stays to be read. */
export function withReadAgain(known: Earlier, session: SessionId, to: number, events: readonly Event[]): ReadAgain {
  const at = known.stretches.findIndex((one) => one.to === to && one.blocks === undefined);
  const old = known.stretches[at];
  if (old === undefined) return { earlier: known, from: 0, by: 0 };
  const from = Math.max(old.from, events.length < MAX_OPEN_EVENTS ? 0 : (events[0]?.id ?? 0));
  const read = folded(session, events, { from, to });
  const left = { ...old, to: from, count: Math.max(0, old.count - read.count) };
  const now = from === old.from ? [read] : [left, read];
  const by = now.reduce((sum, { count }) => sum + count, -old.count);
  const stretches = known.stretches.toSpliced(at, 1, ...now);
  const end = known.stretches.slice(0, at + 1).reduce((sum, { count }) => sum + count, 0);
  return { earlier: { ...known, stretches, count: known.count + by }, from: end, by };
}

export function blockAt({ stretches, count }: Earlier, index: number): Block | undefined {
  let first = count;
  for (let at = stretches.length - 1; at >= 0; at--) {
    const stretch = stretches[at];
    first -= stretch?.count ?? 0;
    if (index >= first) return stretch?.blocks?.[index - first];
  }
  return undefined;
}

/** The events to read again for these blocks, as the load `earlier` takes them; undefined: all are there. */
export function missing({ stretches }: Earlier, near: Near): string | undefined {
  let first = 0;
  for (const { from, to, count, blocks } of stretches) {
    const isNear = first <= near.last && first + count > near.first;
    if (isNear && blocks === undefined) return `${Math.max(from, to - MAX_OPEN_EVENTS)}:${to}`;
    first += count;
  }
  return undefined;
}

/** Lets go of what is far from all of these. */
export function keptNear(known: Earlier, looks: readonly Near[]): Earlier {
  let first = 0;
  const held = known.stretches.flatMap((stretch, at) => {
    const last = first + stretch.count - 1;
    const far = Math.min(...looks.map((near) => Math.max(near.first - last, first - near.last, 0)));
    first = last + 1;
    return stretch.blocks === undefined ? [] : [{ at, far, size: stretch.size }];
  });
  if (held.reduce((sum, { size }) => sum + size, 0) <= MAX_KEPT_SIZE) return known;
  let room = MAX_KEPT_SIZE / 2;
  const dropped = new Set<number>();
  for (const { at, far, size } of held.toSorted((a, b) => a.far - b.far)) {
    room -= size;
    if (far > 0 && room < 0) dropped.add(at);
  }
  const stretches = known.stretches.map((one, at) => (dropped.has(at) ? { ...one, blocks: undefined, size: 0 } : one));
  return { ...known, stretches };
}

function folded(session: SessionId, events: readonly Event[], { from, to }: Pick<Stretch, "from" | "to">): Stretch {
  const blocks = foldedBlocks(session, events);
  return { from, to, count: blocks.length, blocks, size: blocks.reduce((sum, block) => sum + sizeOf(block), 0) };
}
