/** The methods of dict, and the filling of a dict that `dict()` shares with `update`. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict } from "../values/dict.ts";
import { ELEMENT_BYTES, mergeInto } from "../values/operators.ts";
import { elementsOf, lengthOf } from "../values/truth.ts";
import { type Keyword, List, type Method, Tuple, typeOf, type Value } from "../values/values.ts";
import { method, naming } from "./arguments.ts";

function self(v: Value): Dict {
  if (!(v instanceof Dict)) throw new TypeError("receiver is not a dict");
  return v;
}

/** The argument and keywords of `dict()` and `update()`. */
export function updateDict(t: Thread, dict: Dict, args: readonly Value[], kwargs: readonly Keyword[]): void {
  const from = args[0];
  if (from instanceof Dict) mergeInto(t, dict, from);
  else if (from !== undefined) {
    const pairs = elementsOf(t, from);
    if (pairs === null) throw fault(`got ${typeOf(from)}, want iterable`);
    pairs.forEach((pair, i) => {
      if (--t.fuel < 0) t.refuel();
      const elements = elementsOf(t, pair);
      const what = `dictionary update sequence element #${i}`;
      if (elements === null) throw fault(`${what} is not iterable (${typeOf(pair)})`);
      const n = lengthOf(pair);
      if (n < 0) throw fault(`${what} has unknown length (${typeOf(pair)})`);
      if (n !== 2) throw fault(`${what} has length ${n}, want 2`);
      t.alloc(dict.set(elements[0]!, elements[1]!, t));
    });
  }
  const seen = new Set<string>();
  for (const [k, v] of kwargs) {
    if (seen.has(k)) throw fault(`duplicate keyword arg: "${k}"`);
    seen.add(k);
    t.alloc(dict.set(k, v, t));
  }
}

function newList(t: Thread, elements: Value[]): List {
  t.alloc(ELEMENT_BYTES * elements.length);
  t.charge(elements.length >> 3);
  return new List(elements);
}

function get(t: Thread, recv: Value, key: Value): Value {
  const dict = self(recv);
  const v = typeof key === "string" ? dict.get(key, t) : naming("get", () => dict.get(key, t));
  return v === undefined ? null : v;
}

function items(t: Thread, recv: Value): Value {
  const entries = self(recv).entries();
  t.alloc(3 * ELEMENT_BYTES * entries.length);
  return newList(
    t,
    entries.map((e) => new Tuple(e)),
  );
}

export const dictMethods: readonly Method[] = [
  method("clear", 0, 0, (_t, recv) => {
    self(recv).clear();
    return null;
  }),
  method(
    "get",
    1,
    2,
    (t, recv, args) => {
      const v = naming("get", () => self(recv).get(args[0]!, t));
      return v === undefined ? (args[1] ?? null) : v;
    },
    { f1: get },
  ),
  method("items", 0, 0, (t, recv) => items(t, recv), { f0: items }),
  method("keys", 0, 0, (t, recv) => newList(t, self(recv).keys())),
  method("pop", 1, 2, (t, recv, args) => {
    const v = naming("pop", () => self(recv).delete(args[0]!, t));
    if (v !== undefined) return v;
    if (args[1] !== undefined) return args[1];
    throw fault("pop: missing key");
  }),
  method("popitem", 0, 0, (t, recv) => {
    const dict = self(recv);
    const key = dict.firstKey();
    if (key === undefined) throw fault("popitem: empty dict");
    const value = naming("popitem", () => dict.delete(key, t));
    return new Tuple([key, value ?? null]);
  }),
  method("setdefault", 1, 2, (t, recv, args) => {
    const dict = self(recv);
    const key = args[0]!;
    const old = naming("setdefault", () => dict.get(key, t));
    if (old !== undefined) return old;
    const value = args[1] ?? null;
    t.alloc(naming("setdefault", () => dict.set(key, value, t)));
    return value;
  }),
  {
    name: "update",
    impl(t, recv, args, kwargs) {
      if (args.length > 1) throw fault(`update: got ${args.length} arguments, want at most 1`);
      naming("update", () => updateDict(t, self(recv), args, kwargs));
      return null;
    },
  },
  method("values", 0, 0, (t, recv) => newList(t, self(recv).values())),
];
