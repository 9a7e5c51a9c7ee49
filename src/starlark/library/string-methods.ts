/** The methods of string and bytes: arguments, charges and messages; the work is in letters, string-split and brace-format. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { isCased, isRune, isSpace, lowerRune, mapRunes, titleRune, toLower, toUpper } from "../values/letters.ts";
import { ELEMENT_BYTES } from "../values/operators.ts";
import { indices } from "../values/subscript.ts";
import { everyRune, isAscii } from "../values/utf8.ts";
import { Bytes, List, type Method, StringView, Tuple, typeOf, type Value } from "../values/values.ts";
import { method, naming, wantBool, wantCount, wantIterable, wantString } from "./arguments.ts";
import { formatBraces } from "./brace-format.ts";
import { countOf, replace, rsplitSpace, splitOn, splitSpace, strip } from "./string-split.ts";

function self(v: Value): string {
  if (typeof v !== "string") throw new TypeError("receiver is not a string");
  return v;
}

/** From this length on, comparing costs steps. */
const LONG_STRING = 1000;

/** Work over a whole string costs steps by its length. */
function scan(t: Thread, s: string): void {
  t.charge(s.length >> 5);
}

/** A method without arguments. */
function plain(name: string, f: (t: Thread, s: string) => Value): Method {
  const f0 = (t: Thread, recv: Value): Value => {
    const s = self(recv);
    scan(t, s);
    return f(t, s);
  };
  return method(name, 0, 0, (t, recv) => f0(t, recv), { f0 });
}

function mapping(name: string, f: (s: string) => string): Method {
  return plain(name, (t, s) => {
    t.allocValue(2 * s.length);
    if (!isAscii(s) || name === "title" || name === "capitalize") t.charge(s.length);
    return f(s);
  });
}

function every(name: string, test: (rune: number) => boolean): Method {
  return plain(name, (t, s) => {
    t.charge(s.length >> 2);
    return s !== "" && everyRune(s, test);
  });
}

function isInCase(t: Thread, s: string, convert: (s: string) => string): boolean {
  t.charge(s.length >> 2);
  t.alloc(s.length);
  return !everyRune(s, (r) => !isCased(r)) && s === convert(s);
}

function isTitle(s: string): boolean {
  let cased = false;
  let previous = false;
  const fits = everyRune(s, (r) => {
    const start = (r >= 65 && r <= 90) || isRune(r, "title");
    const lower = !start && isRune(r, "lower");
    if (start ? previous : lower ? !previous : isRune(r, "upper")) return false;
    previous = start || lower;
    cased ||= previous;
    return true;
  });
  return fits && cased;
}

function titleCase(s: string): string {
  let previous = false;
  return mapRunes(s, (r) => {
    const mapped = previous ? lowerRune(r) : titleRune(r);
    previous = isCased(mapped);
    return mapped;
  });
}

/** find, index, rfind and rindex. */
function finding(name: string, last: boolean, mustFind: boolean): Method {
  return method(name, 1, 3, (t, recv, args) => {
    const sub = wantString(name, 1, args[0]);
    const s = self(recv);
    scan(t, s);
    const [start, end] = naming(name, () => indices(args[1], args[2], s.length));
    const part = start < end ? s.slice(start, end) : "";
    const i = last ? part.lastIndexOf(sub) : part.indexOf(sub);
    if (i >= 0) return i + start;
    if (mustFind) throw fault(`${name}: substring not found`);
    return -1;
  });
}

function affix(name: "startswith" | "endswith"): Method {
  const has = (s: string, x: string): boolean => (name === "startswith" ? s.startsWith(x) : s.endsWith(x));
  const test = (t: Thread, s: string, x: Value): boolean => {
    if (typeof x === "string") {
      if (x.length > LONG_STRING) t.charge(x.length >> 6);
      return has(s, x);
    }
    if (!(x instanceof Tuple)) throw fault(`${name}: got ${typeOf(x)}, want string or tuple of string`);
    return x.a.some((e, i) => {
      if (--t.fuel < 0) t.refuel();
      if (typeof e !== "string") throw fault(`${name}: want string, got ${typeOf(e)}, for element ${i}`);
      return has(s, e);
    });
  };
  return method(
    name,
    1,
    3,
    (t, recv, args) => {
      const s = self(recv);
      const [start, end] = naming(name, () => indices(args[1], args[2], s.length));
      return test(t, s.slice(start, Math.max(start, end)), args[0]!);
    },
    { f1: (t, recv, x) => test(t, self(recv), x) },
  );
}

function stripping(name: string, left: boolean, right: boolean): Method {
  const run = (t: Thread, recv: Value, chars: string): Value => {
    const s = self(recv);
    const stripped = strip(s, chars, left, right);
    t.alloc(32);
    t.charge(((s.length - stripped.length) >> 3) + (chars.length >> 4));
    return stripped;
  };
  return method(
    name,
    0,
    1,
    (t, recv, args) => run(t, recv, args[0] === undefined ? "" : wantString(name, 1, args[0])),
    { f0: (t, recv) => run(t, recv, "") },
  );
}

function strings(t: Thread, parts: string[]): List {
  t.alloc((ELEMENT_BYTES + 32) * parts.length);
  t.charge(parts.length);
  return new List(parts);
}

function splitting(name: "split" | "rsplit"): Method {
  const right = name === "rsplit";
  return method(name, 0, 2, (t, recv, args) => {
    const s = self(recv);
    const separator = args[0] ?? null;
    const max = args[1] === undefined ? -1 : wantCount(name, 2, args[1]);
    t.charge(s.length >> 3);
    t.alloc(s.length);
    if (separator === null) return strings(t, right && max >= 0 ? rsplitSpace(s, max) : splitSpace(s, max));
    if (typeof separator !== "string") {
      throw fault(`split: got ${typeOf(separator)} for separator, want string`);
    }
    if (separator === "") throw fault("split: empty separator");
    return strings(t, splitOn(s, separator, max, right));
  });
}

function partitioning(name: "partition" | "rpartition"): Method {
  return method(name, 1, 1, (t, recv, args) => {
    const separator = wantString(name, 1, args[0]);
    const s = self(recv);
    scan(t, s);
    t.alloc(128);
    if (separator === "") throw fault(`${name}: empty separator`);
    const i = name === "partition" ? s.indexOf(separator) : s.lastIndexOf(separator);
    if (i < 0) return new Tuple(name === "partition" ? [s, "", ""] : ["", "", s]);
    return new Tuple([s.slice(0, i), separator, s.slice(i + separator.length)]);
  });
}

/** removeprefix and removesuffix. */
function removing(name: "removeprefix" | "removesuffix"): Method {
  return method(name, 1, 1, (_t, recv, args) => {
    const x = wantString(name, 1, args[0]);
    const s = self(recv);
    if (name === "removeprefix") return s.startsWith(x) ? s.slice(x.length) : s;
    return s.endsWith(x) ? s.slice(0, s.length - x.length) : s;
  });
}

function view(name: string, unit: "elem" | "codepoint", ords: boolean): Method {
  return method(name, 0, 0, (_t, recv) => new StringView(self(recv), unit, ords));
}

function splitLines(s: string, keepEnds: boolean): string[] {
  if (s === "") return [];
  const lines = keepEnds ? s.split(/(?<=\n)/) : s.split("\n");
  if (!keepEnds && s.endsWith("\n")) lines.pop();
  return lines;
}

export const stringMethods: readonly Method[] = [
  mapping("capitalize", (s) => mapRunes(s, (r, i) => (i === 0 ? titleRune(r) : lowerRune(r)))),
  view("codepoint_ords", "codepoint", true),
  view("codepoints", "codepoint", false),
  method("count", 1, 3, (t, recv, args) => {
    const sub = wantString("count", 1, args[0]);
    const s = self(recv);
    scan(t, s);
    const [start, end] = naming("count", () => indices(args[1], args[2], s.length));
    const n = countOf(s.slice(start, Math.max(start, end)), sub);
    t.charge(n >> 2);
    return n;
  }),
  view("elem_ords", "elem", true),
  view("elems", "elem", false),
  affix("endswith"),
  finding("find", false, false),
  {
    name: "format",
    impl: (t, recv, args, kwargs) => formatBraces(t, self(recv), args, kwargs),
  },
  finding("index", false, true),
  every("isalnum", (r) => isRune(r, "letter") || isRune(r, "digit")),
  every("isalpha", (r) => isRune(r, "letter")),
  every("isdigit", (r) => isRune(r, "digit")),
  plain("islower", (t, s) => isInCase(t, s, toLower)),
  every("isspace", isSpace),
  plain("istitle", (t, s) => {
    t.charge(s.length >> 2);
    return isTitle(s);
  }),
  plain("isupper", (t, s) => isInCase(t, s, toUpper)),
  method("join", 1, 1, (t, recv, args) => {
    const s = self(recv);
    const parts = wantIterable(t, "join", 1, args[0]);
    let size = 0;
    for (const x of parts) {
      if (typeof x !== "string") throw fault(`join: in list, want string, got ${typeOf(x)}`);
      size += x.length + s.length;
    }
    t.allocValue(size);
    t.charge(size >> 6);
    return parts.join(s);
  }),
  mapping("lower", toLower),
  stripping("lstrip", true, false),
  partitioning("partition"),
  removing("removeprefix"),
  removing("removesuffix"),
  method("replace", 2, 3, (t, recv, args) => {
    const old = wantString("replace", 1, args[0]);
    const by = wantString("replace", 2, args[1]);
    const max = args[2] === undefined ? -1 : wantCount("replace", 3, args[2]);
    const s = self(recv);
    t.charge(s.length >> 4);
    const found = countOf(s, old);
    const n = max < 0 ? found : Math.min(found, max);
    if (n === 0) return s;
    t.charge(n >> 2);
    t.allocValue(s.length + n * (by.length - old.length) + 32 * n);
    return replace(s, old, by, max);
  }),
  finding("rfind", true, false),
  finding("rindex", true, true),
  partitioning("rpartition"),
  splitting("rsplit"),
  stripping("rstrip", false, true),
  splitting("split"),
  method("splitlines", 0, 1, (t, recv, args) => {
    const keepEnds = args[0] === undefined ? false : wantBool("splitlines", 1, args[0]);
    const s = self(recv);
    t.charge(s.length >> 3);
    t.alloc(s.length);
    return strings(t, splitLines(s, keepEnds));
  }),
  affix("startswith"),
  stripping("strip", true, true),
  mapping("title", titleCase),
  mapping("upper", toUpper),
];

export const bytesMethods: readonly Method[] = [
  method("elems", 0, 0, (_t, recv) => {
    if (!(recv instanceof Bytes)) throw new TypeError("receiver is not bytes");
    return new StringView(recv.s, "byte", true);
  }),
];
