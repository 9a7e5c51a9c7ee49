/** The names every program sees. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { attribute, attributeNames, noAttribute } from "../values/attributes.ts";
import { ELEMENT_BYTES } from "../values/operators.ts";
import { repr } from "../values/repr.ts";
import { decodeUtf8 } from "../values/utf8.ts";
import { Builtin, Bytes, type Impl, type Keyword, List, type Value } from "../values/values.ts";
import { named, positional, wantString } from "./arguments.ts";
import { conversions } from "./conversions.ts";
import { sequences } from "./sequences.ts";

/** The text of print and fail: strings bare, everything else as repr. */
function message(t: Thread, fn: string, args: readonly Value[], kwargs: readonly Keyword[]): string {
  const [separator = " "] = named(fn, [], kwargs, ["sep?"]);
  const text = args
    .map((x) => {
      if (typeof x !== "string") return repr(t, x);
      t.alloc(x.length);
      return x;
    })
    .join(wantString(fn, '"sep"', separator));
  t.allocValue(text.length);
  return text;
}

const others: Readonly<Record<string, Impl>> = {
  dir(t, _self, args, kwargs) {
    if (kwargs.length > 0) throw fault("dir does not accept keyword arguments");
    if (args.length !== 1) throw fault(`dir: got ${args.length} arguments, want 1`);
    const names = attributeNames(args[0]!);
    t.alloc(ELEMENT_BYTES * names.length);
    return new List(names);
  },
  fail(t, _self, args, kwargs) {
    throw fault(`fail: ${message(t, "fail", args, kwargs)}`);
  },
  getattr(_t, _self, args, kwargs) {
    positional("getattr", args, kwargs, 2, 3);
    const name = wantString("getattr", 2, args[1]);
    const v = attribute(args[0]!, name);
    if (v !== undefined) return v;
    if (args[2] !== undefined) return args[2];
    throw fault(`getattr: ${noAttribute(args[0]!, name)}`);
  },
  hasattr(_t, _self, args, kwargs) {
    positional("hasattr", args, kwargs, 2, 2);
    return attribute(args[0]!, wantString("hasattr", 2, args[1])) !== undefined;
  },
  print(t, _self, args, kwargs) {
    // As in starlark-go, print shows the text that bytes hold; fail does not.
    const shown = args.map((x) => (x instanceof Bytes ? x.s : x));
    const line = message(t, "print", shown, kwargs);
    t.print?.(decodeUtf8(line));
    return null;
  },
};

/** Built-in functions by name, and the three constants. */
export const universe: ReadonlyMap<string, Value> = new Map<string, Value>([
  ["None", null],
  ["True", true],
  ["False", false],
  ...Object.entries({ ...conversions, ...sequences, ...others }).map(([name, impl]): [string, Value] => [
    name,
    new Builtin({ name, impl }),
  ]),
]);
