/** `set`: the language's own sets, made and combined by functions. The module can be called as well. */
import { type HostCall, List, StarlarkSet, type Value } from "#starlark";
import { everyone, type FunctionRow, module, row } from "./definition.ts";

const make = row("new(items?)", "set", "A set of the items.", { shown: "items=[]", raw: ["items"] }).runs(
  (_args, _call, host) => madeSet(host, host.values.has("items") ? elements(host, "items") : []),
);

function elements(host: HostCall, name: string): readonly Value[] {
  return host.iterate(host.values.get(name) ?? null);
}

function setOf(host: HostCall, name: string): StarlarkSet {
  const value = host.values.get(name);
  if (value instanceof StarlarkSet) return value;
  return madeSet(host, elements(host, name));
}

function madeSet(host: HostCall, items: readonly Value[]): StarlarkSet {
  host.charge(items.length);
  const set = new StarlarkSet();
  for (const item of items) host.alloc(set.add(item, host));
  return set;
}

function combined(
  name: string,
  meaning: string,
  combine: (a: StarlarkSet, b: StarlarkSet, host: HostCall) => Value[],
): FunctionRow {
  return row(`${name}(a, b)`, "set", meaning, { raw: ["a", "b"] }).runs((_args, _call, host) =>
    madeSet(host, combine(setOf(host, "a"), setOf(host, "b"), host)),
  );
}

export const set = module(
  "set",
  "Sets",
  everyone,
  [
    make,
    row("contains(s, item)", "bool", "Whether the set contains the item.", { raw: ["s", "item"] }).runs(
      (_args, _call, host) => setOf(host, "s").has(host.values.get("item") ?? null, host),
    ),
    row("size(s)", "int", "The number of items.", { raw: ["s"] }).runs((_args, _call, host) => setOf(host, "s").size),
    row("values(s)", "list", "The items in insertion order.", { raw: ["s"] }).runs(
      (_args, _call, host) => new List(setOf(host, "s").elements()),
    ),
    combined("union", "The items in `a` or `b`.", (a, b) => [...a.elements(), ...b.elements()]),
    combined("intersect", "The items in both sets.", (a, b, host) => a.elements().filter((item) => b.has(item, host))),
    combined("diff", "The items in `a` that are not in `b`.", (a, b, host) =>
      a.elements().filter((item) => !b.has(item, host)),
    ),
  ],
  { ...make, meaning: "As `set.new`." },
);
