/** What scripts remember: values of a turn, a cache and counters of a run. All of it in memory, all of it bounded. */
import { jsonData } from "./json-data.ts";
import { createPatterns, type Patterns } from "./patterns.ts";

const MAX_TURN_ENTRIES = 1_000;
const MAX_TURN_BYTES = 1024 * 1024;
const MAX_TURNS = 16;
const MAX_CACHE_ENTRIES = 10_000;
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
const MAX_METRICS = 1_000;
const MAX_NAME_CHARS = 200;
const MAX_RUNS = 1_000;

export type ContextValues = Readonly<Record<string, unknown>>;

/** Values of one turn, over those that the run was started with. */
export interface TurnValues {
  get(key: string): unknown;
  has(key: string): boolean;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  /** Drops what the turn set; the values of the run are seen again. */
  clear(): void;
  snapshot(): Record<string, unknown>;
}

export type RunCache = Omit<TurnValues, "snapshot">;

export interface RunMetrics {
  incr(name: string, delta: number): void;
  set(name: string, value: number): void;
  get(name: string): number;
  reset(name?: string): void;
  snapshot(): Record<string, number>;
}

export interface RunState {
  readonly cache: RunCache;
  readonly metrics: RunMetrics;
  /** Regular expressions that scripts have used. */
  readonly patterns: Patterns;
  /** The values of a turn; a turn that was not seen before begins with those of the run. */
  turn(turn: string | undefined): TurnValues;
  /** Replaces the values of the run, which turns see unless they set their own. */
  setValues(values: ContextValues): void;
}

/** The state of every run, by the id of its session. */
export interface RunStates {
  of(session: string): RunState;
  drop(session: string): void;
  /** A delegate has values of its own; what is cached and counted is one for the whole tree. */
  adopt(session: string, parent: string): void;
}

export function createRunStates(): RunStates {
  const runs = new Map<string, RunState>();
  return {
    of(session) {
      const known = runs.get(session);
      if (known !== undefined) return known;
      const made = createRunState();
      runs.set(session, made);
      dropOldest(runs, MAX_RUNS);
      return made;
    },
    drop: (session) => void runs.delete(session),
    adopt(session, parent) {
      const { cache, metrics, patterns } = this.of(parent);
      runs.set(session, { ...createRunState(), cache, metrics, patterns });
      dropOldest(runs, MAX_RUNS);
    },
  };
}

export function createRunState(): RunState {
  let values: ContextValues = {};
  const turns = new Map<string, TurnValues>();
  return {
    cache: createCache(),
    metrics: createMetrics(),
    patterns: createPatterns(),
    turn(turn = "") {
      const known = turns.get(turn);
      if (known !== undefined) return known;
      const made = createTurnValues(() => values);
      turns.set(turn, made);
      dropOldest(turns, MAX_TURNS);
      return made;
    },
    setValues(next) {
      values = { ...next };
    },
  };
}

function createTurnValues(run: () => ContextValues): TurnValues {
  const own = createStore();
  const hidden = new Set<string>();
  const inRun = (key: string): boolean => !hidden.has(key) && Object.hasOwn(run(), key);
  return {
    get: (key) => (own.has(key) ? own.get(key) : inRun(key) ? run()[key] : undefined),
    has: (key) => own.has(key) || inRun(key),
    set(key, value) {
      own.set(key, value);
      if (own.size() <= MAX_TURN_ENTRIES && own.bytes() <= MAX_TURN_BYTES) return;
      own.delete(key);
      throw new Error(`ctx holds at most ${MAX_TURN_ENTRIES} values and ${MAX_TURN_BYTES} bytes`);
    },
    delete(key) {
      own.delete(key);
      if (inRun(key)) hidden.add(key);
    },
    clear() {
      own.clear();
      hidden.clear();
    },
    snapshot() {
      const all: Record<string, unknown> = {};
      for (const key of Object.keys(run())) if (inRun(key)) all[key] = run()[key];
      for (const key of own.keys()) all[key] = own.get(key);
      return all;
    },
  };
}

/** A cache that is full forgets what was stored first. */
function createCache(): RunCache {
  const own = createStore();
  return {
    get: own.get,
    has: own.has,
    set(key, value) {
      own.delete(key);
      const bytes = own.set(key, value);
      if (bytes > MAX_CACHE_BYTES) {
        own.delete(key);
        throw new Error(`a value of ${bytes} bytes does not fit into the cache of ${MAX_CACHE_BYTES}`);
      }
      while (own.size() > MAX_CACHE_ENTRIES || own.bytes() > MAX_CACHE_BYTES) own.deleteFirst();
    },
    delete: own.delete,
    clear: own.clear,
  };
}

function createMetrics(): RunMetrics {
  const counters = new Map<string, number>();
  const put = (name: string, value: number): void => {
    if (!Number.isFinite(value)) throw new Error(`a metric must be a finite number, not ${value}`);
    checkName(name);
    if (!counters.has(name) && counters.size >= MAX_METRICS) throw new Error(`at most ${MAX_METRICS} metrics are kept`);
    counters.set(name, value);
  };
  return {
    incr: (name, delta) => put(name, (counters.get(name) ?? 0) + delta),
    set: put,
    get: (name) => counters.get(name) ?? 0,
    reset(name) {
      if (name === undefined) counters.clear();
      else counters.delete(name);
    },
    snapshot: () => Object.fromEntries([...counters].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

interface Store {
  get(key: string): unknown;
  has(key: string): boolean;
  /** Keeps a copy and returns its size. */
  set(key: string, value: unknown): number;
  delete(key: string): void;
  deleteFirst(): void;
  clear(): void;
  keys(): Iterable<string>;
  size(): number;
  bytes(): number;
}

/** Copies of JSON data with a count of what they take; nobody shares a part with what is kept. */
function createStore(): Store {
  const entries = new Map<string, { readonly data: unknown; readonly bytes: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => entries.get(key)?.data,
    has: (key) => entries.has(key),
    set(key, value) {
      checkName(key);
      const data = jsonData(value);
      const bytes = key.length + sizeOf(data);
      remove(key);
      entries.set(key, { data, bytes });
      total += bytes;
      return bytes;
    },
    delete: remove,
    deleteFirst() {
      for (const key of entries.keys()) return remove(key);
    },
    clear() {
      entries.clear();
      total = 0;
    },
    keys: () => entries.keys(),
    size: () => entries.size,
    bytes: () => total,
  };
}

function sizeOf(data: unknown): number {
  if (typeof data === "string") return data.length;
  if (typeof data !== "object" || data === null) return 8;
  return Object.entries(data).reduce((sum, [key, part]) => sum + key.length + 16 + sizeOf(part), 16);
}

function checkName(name: string): void {
  if (name === "" || name.length > MAX_NAME_CHARS) {
    throw new Error(`a name must have 1 to ${MAX_NAME_CHARS} characters`);
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
