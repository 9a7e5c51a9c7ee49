/** The finished blocks of the conversation: appended to and read by index, never changed. An append copies nothing. */

export interface BlockLog<Item> {
  /** Of those that are kept, the number of the first one. */
  readonly from: number;
  readonly to: number;
  /** Shared with logs that were made by appending to this one; entries from `to` on are theirs. */
  readonly kept: readonly Item[];
  /** Of those that are kept. */
  readonly size: number;
}

export interface LogLimits<Item> {
  sizeOf(item: NoInfer<Item>): number;
  /** Entries from this number on are still needed. */
  readonly needed: number;
}

/** What one session keeps in this program; the log of the session has all of it. */
const MAX_KEPT = 2_000;
const MAX_SIZE = 2_000_000;
/** As many times as much for what is still needed: then the oldest of it goes as well. */
const NEEDED_SHARE = 3;

export function emptyLog<Item>(): BlockLog<Item> {
  return { from: 0, to: 0, kept: [], size: 0 };
}

export function appended<Item>(log: BlockLog<Item>, items: readonly Item[], limits: LogLimits<Item>): BlockLog<Item> {
  if (items.length === 0) return log;
  const { from, to } = log;
  const isNewest = log.kept.length === to - from;
  const kept = (isNewest ? log.kept : log.kept.slice(0, to - from)) as Item[]; // only what lies behind every log is written
  let { size } = log;
  for (const item of items) {
    kept.push(item);
    size += limits.sizeOf(item);
  }
  return shortened({ from, to: to + items.length, kept, size }, limits);
}

/** Half of it goes at a time, so that few appends copy. */
function shortened<Item>(log: BlockLog<Item>, limits: LogLimits<Item>): BlockLog<Item> {
  const without = dropped(log, Math.min(limits.needed, log.to - 1), 1, limits);
  // The newest one stays however large it is.
  return dropped(without, log.to - 1, NEEDED_SHARE, limits);
}

/** At most up to the entry `end`. */
function dropped<Item>(log: BlockLog<Item>, end: number, share: number, { sizeOf }: LogLimits<Item>): BlockLog<Item> {
  const { kept, from, to } = log;
  const isOver = (length: number, size: number, part: number): boolean =>
    length > MAX_KEPT * part || size > MAX_SIZE * part;
  if (!isOver(to - from, log.size, share)) return log;
  let { size } = log;
  let drop = 0;
  for (const item of kept) {
    if (from + drop >= end || !isOver(to - from - drop, size, share / 2)) break;
    size -= sizeOf(item);
    drop += 1;
  }
  return drop === 0 ? log : { from: from + drop, to, kept: kept.slice(drop), size };
}

/** The same log with other entries from this number on. */
export function mapped<Item>(
  log: BlockLog<Item>,
  first: number,
  change: (item: Item) => Item,
  { sizeOf }: Pick<LogLimits<Item>, "sizeOf">,
): BlockLog<Item> {
  const { from, to } = log;
  const kept = log.kept.slice(0, to - from).map((item, at) => (from + at < first ? item : change(item)));
  return { from, to, kept, size: kept.reduce((size, item) => size + sizeOf(item), 0) };
}

/** The entries from this number on, as far as they are kept. */
export function entriesFrom<Item>({ from, to, kept }: BlockLog<Item>, first: number): readonly Item[] {
  return kept.slice(Math.max(0, first - from), to - from);
}
