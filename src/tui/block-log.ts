/** The finished blocks of the conversation: appended to and read by index, never changed. An append copies nothing. */

export interface BlockLog<Item> {
  /** Of those that are kept, the number of the first one. */
  readonly from: number;
  readonly to: number;
  /** Shared with logs that were made by appending to this one; entries from `to` on are theirs. */
  readonly kept: readonly Item[];
}

/** What one session keeps in this program; the log of the session has all of it. */
const MAX_KEPT = 20_000;

export function emptyLog<Item>(): BlockLog<Item> {
  return { from: 0, to: 0, kept: [] };
}

/** `needed`: entries from this number on are kept in any case. */
export function appended<Item>(log: BlockLog<Item>, items: readonly Item[], needed: number): BlockLog<Item> {
  if (items.length === 0) return log;
  const { from, to } = log;
  const isNewest = log.kept.length === to - from;
  const kept = (isNewest ? log.kept : log.kept.slice(0, to - from)) as Item[]; // only what lies behind every log is written
  for (const item of items) kept.push(item);
  const drop = Math.min(needed - from, kept.length - MAX_KEPT);
  if (drop < MAX_KEPT / 2) return { from, to: to + items.length, kept };
  return { from: from + drop, to: to + items.length, kept: kept.slice(drop) };
}

/** The entries from this number on. */
export function entriesFrom<Item>({ from, to, kept }: BlockLog<Item>, first: number): readonly Item[] {
  return kept.slice(Math.max(0, first - from), to - from);
}
