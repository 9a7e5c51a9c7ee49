/**
 * One budget for all caches of the program: what they hold together stays below a bound, and what was used longest ago makes room. Only
 * for what can be made again from what is at hand: losing it costs time and changes nothing. Results that a session keeps because it
 * said so (the memo of a turn, the cache of its scripts) are bounded where they are.
 */

/** What idle sessions may leave behind, in all. */
export const CACHE_BUDGET_BYTES = 32 * 1024 * 1024;
/** No cache takes more than this part of it, however much it is used. */
const LARGEST_SHARE = 0.5;
/** Of an entry with its key, besides what it holds. */
const ENTRY_BYTES = 128;
const BYTES_PER_CHAR = 2;

export interface CacheCounters {
  readonly entries: number;
  readonly bytes: number;
  readonly maxBytes: number;
  readonly hits: number;
  readonly misses: number;
  /** Entries that made room for others. */
  readonly evictions: number;
}

export interface Cache<Value> {
  get(key: string): Value | undefined;
  /** What takes more than the share of its cache is not kept. */
  set(key: string, value: Value, bytes: number): void;
  clear(): void;
}

export interface CacheBudget {
  /** Caches of one name share their counters and their share of the budget. */
  open<Value>(name: string): Cache<Value>;
  counters(): {
    readonly maxBytes: number;
    readonly bytes: number;
    readonly caches: Readonly<Record<string, CacheCounters>>;
  };
}

interface Entry {
  readonly owner: Map<string, Entry>;
  readonly group: Group;
  readonly key: string;
  readonly value: unknown;
  readonly bytes: number;
}

interface Group {
  /** The one that was used longest ago first. */
  readonly order: Set<Entry>;
  bytes: number;
  hits: number;
  misses: number;
  evictions: number;
}

export function createCacheBudget(maxBytes = CACHE_BUDGET_BYTES): CacheBudget {
  const shareBytes = Math.floor(maxBytes * LARGEST_SHARE);
  const groups = new Map<string, Group>();
  /** Of all caches, the one that was used longest ago first. */
  const order = new Set<Entry>();
  let total = 0;

  function drop(entry: Entry): void {
    entry.owner.delete(entry.key);
    entry.group.order.delete(entry);
    order.delete(entry);
    entry.group.bytes -= entry.bytes;
    total -= entry.bytes;
  }

  function evict([oldest]: Set<Entry>): void {
    if (oldest === undefined) return;
    drop(oldest);
    oldest.group.evictions += 1;
  }

  function touch(entry: Entry): void {
    for (const line of [order, entry.group.order]) {
      line.delete(entry);
      line.add(entry);
    }
  }

  return {
    open<Value>(name: string): Cache<Value> {
      const group = groups.get(name) ?? { order: new Set(), bytes: 0, hits: 0, misses: 0, evictions: 0 };
      groups.set(name, group);
      const entries = new Map<string, Entry>();
      return {
        get(key) {
          const entry = entries.get(key);
          if (entry === undefined) {
            group.misses += 1;
            return undefined;
          }
          group.hits += 1;
          touch(entry);
          // Whatever is under a key of this cache, `set` put there.
          return entry.value as Value;
        },
        set(key, value, valueBytes) {
          const before = entries.get(key);
          if (before !== undefined) drop(before);
          const bytes = Math.ceil(valueBytes) + key.length * BYTES_PER_CHAR + ENTRY_BYTES;
          if (bytes > shareBytes) return;
          const entry = { owner: entries, group, key, value, bytes };
          entries.set(key, entry);
          group.bytes += bytes;
          total += bytes;
          touch(entry);
          while (group.bytes > shareBytes) evict(group.order);
          while (total > maxBytes) evict(order);
        },
        clear() {
          for (const entry of [...entries.values()]) drop(entry);
        },
      };
    },
    counters: () => ({
      maxBytes,
      bytes: total,
      caches: Object.fromEntries(
        [...groups].map(([name, { order: own, bytes, hits, misses, evictions }]) => [
          name,
          { entries: own.size, bytes, maxBytes: shareBytes, hits, misses, evictions },
        ]),
      ),
    }),
  };
}

/** What a text takes in memory at most. */
export function textBytes(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length * BYTES_PER_CHAR, 0);
}

/** The budget of this program. Module state, because there is one memory; it decides nothing. */
export const programCaches = createCacheBudget();
