/** The methods of set. Those that combine take any number of iterables. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { StarlarkSet } from "../values/dict.ts";
import { newSet } from "../values/operators.ts";
import { elementsOf } from "../values/truth.ts";
import { type Impl, type Keyword, type Method, typeOf, type Value } from "../values/values.ts";
import { method, naming, positional, wantIterable } from "./arguments.ts";

/** No limit to the number of arguments. */
const ANY = Number.MAX_SAFE_INTEGER;

function self(v: Value): StarlarkSet {
  if (!(v instanceof StarlarkSet)) throw new TypeError("receiver is not a set");
  return v;
}

function add(t: Thread, recv: Value, x: Value): Value {
  const set = self(recv);
  t.alloc(naming("add", () => set.add(x, t)));
  return null;
}

/** The operands of a method: each an iterable. Where any number may be given, starlark-go words the complaint differently. */
function operands(
  t: Thread,
  name: string,
  args: readonly Value[],
  kwargs: readonly Keyword[],
  min: number,
  max: number,
): (readonly Value[])[] {
  positional(name, args, kwargs, min, max);
  return args.map((arg, i) => {
    if (max === ANY && elementsOf(t, arg) === null) {
      throw fault(`${name}: argument #${i + 1} is not iterable: ${typeOf(arg)}`);
    }
    return wantIterable(t, name, i + 1, arg);
  });
}

/** A method that makes a new set from its operands. */
function combining(
  name: string,
  count: [number, number],
  combine: (t: Thread, set: StarlarkSet, others: readonly (readonly Value[])[]) => readonly Value[],
): Method {
  const impl: Impl = (t, recv, args, kwargs) => {
    const others = operands(t, name, args, kwargs, ...count);
    return naming(name, () => newSet(t, combine(t, self(recv), others)));
  };
  return { name, impl };
}

/** A method that changes its receiver; even without effect it needs a mutable one. */
function updating(
  name: string,
  count: [number, number],
  verb: string,
  change: (t: Thread, set: StarlarkSet, other: StarlarkSet) => void,
): Method {
  const impl: Impl = (t, recv, args, kwargs) => {
    const others = operands(t, name, args, kwargs, ...count);
    const set = self(recv);
    naming(name, () => {
      set.checkMutable(verb);
      for (const other of others) change(t, set, newSet(t, other));
    });
    return null;
  };
  return { name, impl };
}

function outside(t: Thread, set: StarlarkSet, others: readonly (readonly Value[])[]): Value[] {
  const all = newSet(t, others.flat());
  return set.elements().filter((x) => !all.has(x, t));
}

/** As in starlark-go, in the order of the last operand. */
function common(t: Thread, set: StarlarkSet, others: readonly (readonly Value[])[]): readonly Value[] {
  let found = set;
  for (const other of others) {
    const known = found;
    found = newSet(
      t,
      other.filter((x) => known.has(x, t)),
    );
  }
  return found.elements();
}

/** As in starlark-go, each element of the other one is taken out if it is there and put in if not. */
function symmetric(t: Thread, set: StarlarkSet, other: readonly Value[]): Value[] {
  const result = newSet(t, set.elements());
  for (const x of other) if (!result.delete(x, t)) t.alloc(result.add(x, t));
  return result.elements();
}

/** Stops looking as soon as all are found, as starlark-go does. */
function hasAll(t: Thread, set: StarlarkSet, other: readonly Value[]): boolean {
  const found = new StarlarkSet();
  for (const x of other) {
    if (found.size === set.size) break;
    if (set.has(x, t)) t.alloc(found.add(x, t));
  }
  return found.size === set.size;
}

/** A method that answers a question about its receiver and one iterable. */
function asking(
  name: string,
  min: number,
  ask: (t: Thread, set: StarlarkSet, other: readonly Value[]) => boolean,
): Method {
  return {
    name,
    impl(t, recv, args, kwargs) {
      const others = operands(t, name, args, kwargs, min, 1);
      return naming(name, () => ask(t, self(recv), others[0] ?? []));
    },
  };
}

export const setMethods: readonly Method[] = [
  method("add", 1, 1, (t, recv, args) => add(t, recv, args[0]!), { f1: add }),
  method("clear", 0, 0, (_t, recv) => {
    naming("clear", () => self(recv).clear());
    return null;
  }),
  combining("difference", [0, ANY], outside),
  updating("difference_update", [0, ANY], "delete from", (t, set, other) => {
    for (const x of other.elements()) set.delete(x, t);
  }),
  method("discard", 1, 1, (t, recv, args) => {
    const set = self(recv);
    naming("discard", () => {
      set.checkMutable("delete from");
      if (set.has(args[0]!, t)) set.delete(args[0]!, t);
    });
    return null;
  }),
  combining("intersection", [0, ANY], common),
  updating("intersection_update", [0, ANY], "delete from", (t, set, other) => {
    for (const x of set.elements()) if (!other.has(x, t)) set.delete(x, t);
  }),
  asking("isdisjoint", 0, (t, set, other) => !other.some((x) => set.has(x, t))),
  asking("issubset", 0, hasAll),
  asking("issuperset", 0, (t, set, other) => other.every((x) => set.has(x, t))),
  method("pop", 0, 0, (t, recv) => {
    const set = self(recv);
    const first = set.first();
    if (first === undefined) throw fault("pop: empty set");
    naming("pop", () => set.delete(first, t));
    return first;
  }),
  method("remove", 1, 1, (t, recv, args) => {
    if (!naming("remove", () => self(recv).delete(args[0]!, t))) throw fault("remove: missing key");
    return null;
  }),
  combining("symmetric_difference", [0, 1], (t, set, others) => symmetric(t, set, others[0] ?? [])),
  updating("symmetric_difference_update", [1, 1], "insert into", (t, set, other) => {
    const result = symmetric(t, set, other.elements());
    set.clear();
    for (const x of result) set.add(x, t);
  }),
  combining("union", [0, ANY], (_t, set, others) => [...set.elements(), ...others.flat()]),
  {
    name: "update",
    impl(t, recv, args, kwargs) {
      const others = operands(t, "update", args, kwargs, 0, ANY);
      const set = self(recv);
      naming("update", () => {
        set.checkMutable("insert into");
        for (const other of others) for (const x of other) t.alloc(set.add(x, t));
      });
      return null;
    },
  },
];
