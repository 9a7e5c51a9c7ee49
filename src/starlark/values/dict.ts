/**
 * Dict and set: hash tables in insertion order. Both sit on a Map whose keys are normalised so that Starlark's equality is the
 * Map's; keys that change by it are kept beside.
 */
import { fault, overLimit } from "../errors.ts";
import { Builtin, Bytes, Float, Fn, FROZEN, StarlarkObject, Struct, Tuple, type Value } from "./values.ts";

/** Nesting and number of values inside a key. */
const MAX_KEY_DEPTH = 100;
const MAX_KEY_NODES = 100_000;
/** Bytes an entry takes besides the text of a compound key. */
const ENTRY_BYTES = 64;

/** From this length on, text in a key costs steps. */
const LONG_TEXT = 1000;

/** No Starlark string holds a unit above 0xff, so these start keys that no string can equal. */
const TUPLE_MARK = "\u0100";
const BYTES_MARK = "\u0101";
const INT_MARK = "\u0102";

/** What pays for the work on keys: a thread, or the host's part of a call. */
export interface Meter {
  charge(steps: number): void;
  alloc(bytes: number): void;
}

/** The Map key of a value. Fails for values that cannot be hashed. Work on long keys is charged to the meter, if there is one. */
export function keyOf(x: Value, t: Meter | null): Value {
  if (typeof x === "string") {
    if (x.length > LONG_TEXT) t?.charge(x.length >> 6);
    return x;
  }
  if (typeof x === "bigint") return bigKey(x, t);
  if (typeof x !== "object" || x === null) return x;
  if (x instanceof Float) return floatKey(x.v, t);
  if (x instanceof Bytes) {
    if (x.s.length > LONG_TEXT) t?.charge(x.s.length >> 6);
    return BYTES_MARK + x.s;
  }
  if (x instanceof Tuple || x instanceof Struct) return new KeyText(t).of(x);
  if (x instanceof Fn || x instanceof Builtin) return x;
  throw fault(unhashable(x));
}

function unhashable(x: StarlarkObject): string {
  const type = x.typeName;
  return type === "list" || type === "dict" || type === "set" ? `unhashable type: ${type}` : `unhashable: ${type}`;
}

/** A Map hashes a bigint by its lowest digit alone, so that keys made on purpose would all collide; their text does not. */
function bigKey(x: bigint, t: Meter | null): string {
  const text = INT_MARK + x.toString(16);
  if (text.length > LONG_TEXT) t?.charge(text.length >> 4);
  return text;
}

function floatKey(v: number, t: Meter | null): Value {
  if (!Number.isInteger(v)) return v;
  return Number.isSafeInteger(v) ? v + 0 : bigKey(BigInt(v), t);
}

/** An injective text of a tuple or struct. */
class KeyText {
  private readonly t: Meter | null;
  private nodes = 0;

  constructor(t: Meter | null) {
    this.t = t;
  }

  of(x: Tuple | Struct): string {
    return TUPLE_MARK + this.text(x, 0);
  }

  private text(x: Value, depth: number): string {
    if (depth > MAX_KEY_DEPTH) throw overLimit("depth", "key is nested too deeply");
    if (++this.nodes > MAX_KEY_NODES) throw overLimit("size", "key is too large");
    this.t?.charge(1);
    if (typeof x === "string") return `s${this.measured(x)}`;
    if (x === null) return "N";
    if (typeof x === "boolean") return x ? "T" : "F";
    if (typeof x === "number") return `${x};`;
    this.t?.alloc(16);
    if (x instanceof Tuple) {
      let out = "(";
      for (const e of x.a) out += this.text(e, depth + 1);
      return `${out})`;
    }
    if (x instanceof Struct) {
      let out = `{${this.measured(x.constructorName)}`;
      for (const [k, v] of x.fields) out += `${this.measured(k)}${this.text(v, depth + 1)}`;
      return `${out}}`;
    }
    if (x instanceof Bytes) return `b${this.measured(x.s)}`;
    const key = keyOf(x, this.t);
    return key instanceof StarlarkObject ? `@${identity(key)};` : `${String(key)};`;
  }

  private measured(s: string): string {
    this.t?.charge(s.length >> 6);
    this.t?.alloc(s.length);
    return `${s.length}:${s}`;
  }
}

/** What a new entry costs. */
function entryCost(k: Value, key: Value): number {
  return k !== key && typeof k === "string" ? ENTRY_BYTES + k.length : ENTRY_BYTES;
}

const identities = new WeakMap<StarlarkObject, number>();
const counter = { last: 0 };

/** A number that stands for an object, for keys only: scripts never see it. */
function identity(x: StarlarkObject): number {
  let id = identities.get(x);
  if (id === undefined) {
    id = ++counter.last;
    identities.set(x, id);
  }
  return id;
}

/** Entries that are converted from a host object only when touched. */
export interface LazyEntries {
  /** Converts and returns one entry, or undefined if there is no such key. */
  get(key: string): Value | undefined;
  /** All entries in order, those already converted included. */
  entries(known: ReadonlyMap<Value, Value>): Iterable<readonly [string, Value]>;
}

export class Dict extends StarlarkObject {
  private m = new Map<Value, Value>();
  /** Original keys by normalised key, for those that differ. */
  private odd: Map<Value, Value> | null = null;
  private lazy: LazyEntries | null;
  lock = 0;

  constructor(lazy: LazyEntries | null = null) {
    super();
    this.lazy = lazy;
  }

  get typeName(): string {
    return "dict";
  }

  /** The table, with all lazy entries in it. */
  private table(): Map<Value, Value> {
    if (this.lazy !== null) {
      this.m = new Map(this.lazy.entries(this.m));
      this.lazy = null;
    }
    return this.m;
  }

  get size(): number {
    return this.table().size;
  }

  get(key: Value, t: Meter | null): Value | undefined {
    const k = keyOf(key, t);
    const known = this.m.get(k);
    if (this.lazy === null || known !== undefined || typeof key !== "string") return known;
    const v = this.lazy.get(key);
    if (v !== undefined) this.m.set(key, v);
    return v;
  }

  /** Fails when frozen or iterated over. */
  checkMutable(verb: string): void {
    if (this.lock !== 0) throw fault(locked(verb, this.lock));
  }

  /** Inserts or replaces. Returns the bytes to charge for a new entry, 0 if the key was there. */
  set(key: Value, value: Value, t: Meter | null): number {
    if (this.lock !== 0) this.checkMutable("insert into");
    const m = this.table();
    const before = m.size;
    const k = keyOf(key, t);
    m.set(k, value);
    if (m.size === before) return 0;
    if (k !== key && !(k === 0 && key === 0)) {
      this.odd ??= new Map();
      this.odd.set(k, key);
    }
    return entryCost(k, key);
  }

  /** Removes and returns the value, or undefined. */
  delete(key: Value, t: Meter | null): Value | undefined {
    this.checkMutable("delete from");
    const m = this.table();
    // As in starlark-go, nothing is hashed to delete from an empty table.
    if (m.size === 0) return undefined;
    const k = keyOf(key, t);
    const v = m.get(k);
    if (v === undefined) return undefined;
    m.delete(k);
    this.odd?.delete(k);
    return v;
  }

  clear(): void {
    this.checkMutable("clear");
    this.table().clear();
    this.odd = null;
  }

  private original(k: Value): Value {
    const found = this.odd?.get(k);
    return found === undefined ? k : found;
  }

  firstKey(): Value | undefined {
    for (const k of this.table().keys()) return this.original(k);
    return undefined;
  }

  keys(): Value[] {
    const keys = [...this.table().keys()];
    return this.odd === null ? keys : keys.map((k) => this.original(k));
  }

  values(): Value[] {
    return [...this.table().values()];
  }

  /** Visits all entries in order; the dict must not change meanwhile. */
  each(visit: (key: Value, value: Value) => void): void {
    this.table().forEach((v, k) => {
      visit(this.odd === null ? k : this.original(k), v);
    });
  }

  entries(): (readonly [Value, Value])[] {
    const entries = [...this.table()];
    return this.odd === null ? entries : entries.map(([k, v]) => [this.original(k), v]);
  }
}

export class StarlarkSet extends StarlarkObject {
  /** Normalised key to element. */
  private readonly m = new Map<Value, Value>();
  lock = 0;

  get typeName(): string {
    return "set";
  }

  /** A set that the host makes. */
  static of(elements: Iterable<Value>): StarlarkSet {
    const set = new StarlarkSet();
    for (const x of elements) set.add(x, null);
    return set;
  }

  get size(): number {
    return this.m.size;
  }

  has(x: Value, t: Meter | null): boolean {
    return this.m.has(keyOf(x, t));
  }

  checkMutable(verb: string): void {
    if (this.lock !== 0) throw fault(locked(verb, this.lock));
  }

  /** Adds an element unless an equal one is there. Returns the bytes to charge, 0 for no change. */
  add(x: Value, t: Meter | null): number {
    if (this.lock !== 0) this.checkMutable("insert into");
    const k = keyOf(x, t);
    if (this.m.has(k)) return 0;
    this.m.set(k, x);
    return entryCost(k, x);
  }

  delete(x: Value, t: Meter | null): boolean {
    this.checkMutable("delete from");
    return this.m.size !== 0 && this.m.delete(keyOf(x, t));
  }

  clear(): void {
    if (this.m.size > 0) this.checkMutable("clear");
    this.m.clear();
  }

  first(): Value | undefined {
    for (const x of this.m.values()) return x;
    return undefined;
  }

  elements(): Value[] {
    return [...this.m.values()];
  }
}

function locked(verb: string, lock: number): string {
  return lock === FROZEN ? `cannot ${verb} frozen hash table` : `cannot ${verb} hash table during iteration`;
}
