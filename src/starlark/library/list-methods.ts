/** The methods of list. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { eq } from "../values/compare.ts";
import { ELEMENT_BYTES } from "../values/operators.ts";
import { checkMutable, indices, outOfRange } from "../values/subscript.ts";
import { List, type Method, type Value } from "../values/values.ts";
import { method, naming, wantCount, wantInt, wantIterable } from "./arguments.ts";

/** Methods are only ever found through a value of the right type. */
function self(v: Value): List {
  if (!(v instanceof List)) throw new TypeError("receiver is not a list");
  return v;
}

function append(t: Thread, recv: Value, x: Value): Value {
  const list = self(recv);
  if (list.lock !== 0) naming("append", () => checkMutable(list, "append to"));
  t.alloc(ELEMENT_BYTES);
  list.a.push(x);
  return null;
}

/** Appends all elements; also `list += iterable`. */
export function extend(t: Thread, list: List, elements: readonly Value[]): void {
  t.alloc(ELEMENT_BYTES * elements.length);
  if (list.a.length + elements.length > t.maxValueBytes / ELEMENT_BYTES) {
    t.allocValue(ELEMENT_BYTES * (list.a.length + elements.length));
  }
  const n = elements.length;
  for (let i = 0; i < n; i++) list.a.push(elements[i]!);
}

export const listMethods: readonly Method[] = [
  method("append", 1, 1, (t, recv, args) => append(t, recv, args[0]!), { f1: append }),
  method("clear", 0, 0, (_t, recv) => {
    const list = self(recv);
    naming("clear", () => checkMutable(list, "clear"));
    list.a = [];
    return null;
  }),
  method("extend", 1, 1, (t, recv, args) => {
    const list = self(recv);
    const elements = wantIterable(t, "extend", 1, args[0]);
    naming("extend", () => checkMutable(list, "extend"));
    extend(t, list, elements);
    return null;
  }),
  method("index", 1, 3, (t, recv, args) => {
    const { a } = self(recv);
    const [start, end] = naming("index", () => indices(args[1], args[2], a.length));
    for (let i = start; i < end; i++) {
      if (--t.fuel < 0) t.refuel();
      if (naming("index", () => eq(t, a[i]!, args[0]!))) return i;
    }
    throw fault("index: value not in list");
  }),
  method("insert", 2, 2, (t, recv, args) => {
    const list = self(recv);
    const index = wantCount("insert", 1, args[0]!);
    naming("insert", () => checkMutable(list, "insert into"));
    t.alloc(ELEMENT_BYTES);
    t.charge(list.a.length >> 6);
    const at = index < 0 ? Math.max(0, index + list.a.length) : index;
    list.a.splice(at, 0, args[1]!);
    return null;
  }),
  method("pop", 0, 1, (t, recv, args) => {
    const list = self(recv);
    const n = list.a.length;
    const index = args[0] === undefined ? n - 1 : wantInt("pop", 1, args[0]);
    const at = Number(index) < 0 ? Number(index) + n : Number(index);
    if (at < 0 || at >= n) throw fault(`pop: ${outOfRange(index, n, list).message}`);
    naming("pop", () => checkMutable(list, "pop from"));
    if (at === n - 1) return list.a.pop() ?? null;
    t.charge(n >> 6);
    return list.a.splice(at, 1)[0] ?? null;
  }),
  method("remove", 1, 1, (t, recv, args) => {
    const list = self(recv);
    naming("remove", () => checkMutable(list, "remove from"));
    for (let i = 0; i < list.a.length; i++) {
      if (--t.fuel < 0) t.refuel();
      if (naming("remove", () => eq(t, list.a[i]!, args[0]!))) {
        t.charge(list.a.length >> 6);
        list.a.splice(i, 1);
        return null;
      }
    }
    throw fault("remove: element not found");
  }),
];
