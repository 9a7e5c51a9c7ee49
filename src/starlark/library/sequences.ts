/** Universal functions over iterables: any, all, enumerate, zip, reversed, sorted, min and max. */

import { call, callSync, settle } from "../calls.ts";
import { fault, StarlarkError } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { gt, lt } from "../values/compare.ts";
import { addInt } from "../values/integers.ts";
import { ELEMENT_BYTES } from "../values/operators.ts";
import { elementsOf, lock, release, truth } from "../values/truth.ts";
import {
  Builtin,
  Fn,
  type Impl,
  type Keyword,
  List,
  Module,
  Pending,
  Tuple,
  typeOf,
  type Value,
} from "../values/values.ts";
import { named, naming, paramName, positional, wantBool, wantCallable, wantInt, wantIterable } from "./arguments.ts";

function quantifier(name: "any" | "all"): Impl {
  return (t, _self, args, kwargs) => {
    positional(name, args, kwargs, 1, 1);
    const elements = wantIterable(t, name, 1, args[0]);
    return name === "any" ? elements.some(truth) : elements.every(truth);
  };
}

/** May a call of it be left unfinished? */
function mayPend(f: Value): boolean {
  if (f instanceof Fn) return f.code.generator;
  if (f instanceof Module) return f.call?.async === true;
  return f instanceof Builtin && f.async;
}

/**
 * Calls `key` on each value, with `source` locked, then `done` with all results; as a generator where a call may be left
 * unfinished.
 */
function withKeys(
  t: Thread,
  name: string,
  key: Value | undefined,
  values: readonly Value[],
  source: Value,
  done: (keys: readonly Value[]) => Value,
): Value | Pending {
  if (key === undefined) return done(values);
  if (mayPend(key)) return new Pending(keySteps(t, key, values, source, done), name);
  lock(source);
  try {
    const keys = values.map((v) => {
      if (--t.fuel < 0) t.refuel();
      return callSync(t, key, [v]);
    });
    return done(keys);
  } finally {
    release(source);
  }
}

function* keySteps(
  t: Thread,
  key: Value,
  values: readonly Value[],
  source: Value,
  done: (keys: readonly Value[]) => Value,
): Generator<unknown, Value, Value> {
  lock(source);
  try {
    const keys: Value[] = [];
    for (const v of values) {
      t.charge(1);
      const r = call(t, key, [v]);
      keys.push(r instanceof Pending ? yield* settle(r) : r);
    }
    return done(keys);
  } finally {
    release(source);
  }
}

/** Positions of the values in sorted order. The sort is stable in either direction. */
function order(t: Thread, keys: readonly Value[], reverse: boolean): number[] {
  const n = keys.length;
  const log = Math.ceil(Math.log2(n + 1));
  t.charge(n * log);
  t.alloc(ELEMENT_BYTES * n * 2);
  const indexes = keys.map((_, i) => i);
  const sign = reverse ? -1 : 1;
  if (keys.every((k) => typeof k === "number") || keys.every((k) => typeof k === "string")) {
    // Numbers among themselves and strings among themselves are compared natively.
    const k = keys as readonly number[];
    return indexes.sort((i, j) => (k[i]! < k[j]! ? -sign : k[i]! > k[j]! ? sign : 0));
  }
  try {
    return indexes.sort((i, j) => {
      const x = keys[i]!;
      const y = keys[j]!;
      if (lt(t, x, y)) return -sign;
      return lt(t, y, x) ? sign : 0;
    });
  } catch (e) {
    throw e instanceof StarlarkError && e.kind === "runtime" ? (lastRefusal(t, keys, reverse) ?? e) : e;
  }
}

/** starlark-go sorts on after a refused comparison and reports the last one: insertion sort in blocks of 20. */
function lastRefusal(t: Thread, keys: readonly Value[], reverse: boolean): StarlarkError | null {
  let last: StarlarkError | null = null;
  const less = (x: Value, y: Value): boolean => {
    try {
      return reverse ? lt(t, y, x) : lt(t, x, y);
    } catch (e) {
      if (!(e instanceof StarlarkError) || e.kind !== "runtime") throw e;
      last = e;
      return false;
    }
  };
  for (let start = 0; start < keys.length; start += BLOCK) {
    const block = keys.slice(start, start + BLOCK);
    for (let i = 1; i < block.length; i++) {
      for (let j = i; j > 0 && less(block[j]!, block[j - 1]!); j--) {
        [block[j], block[j - 1]] = [block[j - 1]!, block[j]!];
      }
    }
  }
  return last;
}
const BLOCK = 20;

const sorted: Impl = (t, _self, args, kwargs) => {
  const [iterable, keyArg, reverseArg] = named("sorted", args, kwargs, ["iterable", "key?", "reverse?"]);
  const values = [...wantIterable(t, "sorted", paramName("iterable", kwargs), iterable)];
  const key = keyArg === undefined ? undefined : wantCallable("sorted", paramName("key", kwargs), keyArg);
  const reverse = reverseArg === undefined ? false : wantBool("sorted", paramName("reverse", kwargs), reverseArg);
  t.alloc(ELEMENT_BYTES * values.length);
  return withKeys(
    t,
    "sorted",
    key,
    values,
    iterable ?? null,
    (keys) => new List(order(t, keys, reverse).map((i) => values[i]!)),
  );
};

function extremum(name: "min" | "max"): Impl {
  const better = name === "min" ? lt : gt;
  return (t, _self, args, kwargs) => {
    if (args.length === 0) throw fault(`${name} requires at least one positional argument`);
    const [keyArg] = named(name, [], kwargs as readonly Keyword[], ["key?"]);
    const key = keyArg === undefined ? undefined : wantCallable(name, '"key"', keyArg);
    const values = args.length === 1 ? elementsOf(t, args[0]!) : args;
    if (values === null) throw fault(`${name}: ${typeOf(args[0]!)} value is not iterable`);
    if (values.length === 0) throw fault(`${name}: argument is an empty sequence`);
    t.charge(values.length >> 1);
    return withKeys(t, name, key, values, args[0]!, (keys) => {
      let best = 0;
      for (let i = 1; i < keys.length; i++) {
        if (naming(name, () => better(t, keys[i]!, keys[best]!))) best = i;
      }
      return values[best]!;
    });
  };
}

export const sequences: Readonly<Record<string, Impl>> = {
  any: quantifier("any"),
  all: quantifier("all"),
  enumerate(t, _self, args, kwargs) {
    positional("enumerate", args, kwargs, 1, 2);
    const elements = wantIterable(t, "enumerate", 1, args[0]);
    const start = args[1] === undefined ? 0 : wantInt("enumerate", 2, args[1]);
    t.alloc(4 * ELEMENT_BYTES * elements.length);
    return new List(elements.map((x, i) => new Tuple([addInt(t, start, i), x])));
  },
  max: extremum("max"),
  min: extremum("min"),
  reversed(t, _self, args, kwargs) {
    positional("reversed", args, kwargs, 1, 1);
    const elements = wantIterable(t, "reversed", 1, args[0]);
    t.alloc(ELEMENT_BYTES * elements.length);
    return new List(elements.toReversed());
  },
  sorted,
  zip(t, _self, args, kwargs) {
    if (kwargs.length > 0) throw fault("zip does not accept keyword arguments");
    const columns = args.map((arg, i) => {
      const elements = elementsOf(t, arg);
      if (elements === null) throw fault(`zip: argument #${i + 1} is not iterable: ${typeOf(arg)}`);
      return elements;
    });
    const rows = columns.length === 0 ? 0 : Math.min(...columns.map((c) => c.length));
    t.charge(Math.floor((rows * columns.length) / 2));
    t.allocValue(ELEMENT_BYTES * rows * (columns.length + 2));
    return new List(Array.from({ length: rows }, (_, i) => new Tuple(columns.map((c) => c[i]!))));
  },
};
