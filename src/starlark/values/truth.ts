/** Truth, length and iteration of values. */

import type { Thread } from "../thread.ts";
import { Dict, StarlarkSet } from "./dict.ts";
import { decodeRune, encodeRune, runeOf, sizeOf } from "./utf8.ts";
import { Bytes, Float, List, Range, StringView, Tuple, type Value } from "./values.ts";

export function truth(x: Value): boolean {
  if (typeof x === "boolean") return x;
  if (typeof x !== "object") return typeof x === "string" ? x !== "" : x !== 0;
  if (x === null) return false;
  if (x instanceof List || x instanceof Tuple) return x.a.length > 0;
  if (x instanceof Dict || x instanceof StarlarkSet) return x.size > 0;
  if (x instanceof Float) return x.v !== 0;
  if (x instanceof Bytes) return x.s !== "";
  if (x instanceof Range) return x.length > 0;
  return true;
}

/** Length of a string or sequence, or -1. */
export function lengthOf(x: Value): number {
  if (typeof x === "string") return x.length;
  if (x instanceof List || x instanceof Tuple) return x.a.length;
  if (x instanceof Dict || x instanceof StarlarkSet) return x.size;
  if (x instanceof Bytes) return x.s.length;
  if (x instanceof Range) return x.length;
  if (x instanceof StringView && x.unit === "elem") return x.s.length;
  return -1;
}

/** The elements of an iterable as an array not to be changed, or null. Ranges and views are built, and charged. */
export function elementsOf(t: Thread, x: Value): readonly Value[] | null {
  if (x instanceof List || x instanceof Tuple) return x.a;
  if (x instanceof Dict) {
    t.alloc(8 * x.size);
    return x.keys();
  }
  if (x instanceof StarlarkSet) {
    t.alloc(8 * x.size);
    return x.elements();
  }
  if (x instanceof Range) {
    t.allocValue(8 * x.length);
    t.charge(x.length >> 2);
    return Array.from({ length: x.length }, (_, i) => x.at(i));
  }
  if (x instanceof StringView) return viewElements(t, x);
  return null;
}

/** Begins an iteration over a container: until `release` it cannot be changed. */
export function lock(x: Value): void {
  if ((x instanceof List || x instanceof Dict || x instanceof StarlarkSet) && x.lock >= 0) x.lock++;
}

/** Ends an iteration. */
export function release(x: Value | undefined): void {
  if ((x instanceof List || x instanceof Dict || x instanceof StarlarkSet) && x.lock > 0) x.lock--;
}

function viewElements(t: Thread, view: StringView): Value[] {
  const { s, unit, ords } = view;
  t.allocValue(16 * s.length);
  t.charge(s.length >> 2);
  const out: Value[] = [];
  if (unit === "codepoint") {
    for (let i = 0; i < s.length; ) {
      const d = decodeRune(s, i);
      // An undecodable byte is one element, shown as U+FFFD.
      out.push(ords ? runeOf(d) : encodeRune(runeOf(d)));
      i += sizeOf(d);
    }
    return out;
  }
  for (let i = 0; i < s.length; i++) out.push(ords || unit === "byte" ? s.charCodeAt(i) : (s[i] ?? ""));
  return out;
}
