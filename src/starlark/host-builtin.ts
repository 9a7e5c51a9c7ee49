/** Functions of the host: a parameter list in words, arguments and results in host data, synchronous or asynchronous. */

import { call, settle } from "./calls.ts";
import { drive, hostFailure } from "./driver.ts";
import { fault } from "./errors.ts";
import { toHost, toStarlark } from "./interop.ts";
import { unexpectedKeyword } from "./library/arguments.ts";
import type { Thread } from "./thread.ts";
import { Dict } from "./values/dict.ts";
import { ELEMENT_BYTES, ENTRY_BYTES } from "./values/operators.ts";
import { quote } from "./values/quote.ts";
import { elementsOf } from "./values/truth.ts";
import { encodeUtf8 } from "./values/utf8.ts";
import {
  Builtin,
  Bytes,
  Fn,
  type Impl,
  type Keyword,
  List,
  Module,
  Pending,
  StarlarkObject,
  Struct,
  Tuple,
  typeOf,
  type Value,
} from "./values/values.ts";

/** What a host function learns about the call besides its arguments. */
export interface HostCall {
  /** The `host` of the call options. */
  readonly host: unknown;
  readonly signal: AbortSignal | undefined;
  /** The arguments before conversion. */
  readonly values: ReadonlyMap<string, Value>;
  /** Accounts for work and memory that the arguments make the host spend. */
  charge(steps: number): void;
  alloc(bytes: number): void;
  /** The elements of an iterable value; fails for any other. */
  iterate(x: Value): readonly Value[];
  /** Calls a Starlark function that was passed as an argument, from a synchronous host function. */
  call(f: Value, ...args: unknown[]): unknown;
}

export type HostFunction = (args: Record<string, unknown>, call: HostCall) => unknown;

interface Spec {
  readonly name: string;
  readonly optional: boolean;
  /** What it is when it is not given; absent: then it is not there at all. */
  readonly fallback?: Value;
  readonly keywordOnly: boolean;
}

/**
 * Makes a built-in. `params` is a list such as "url, headers?=None, *, timeout_seconds?": a name that ends in "?" is optional,
 * with "=" and a literal (None, True, False, a number or a quoted text) as what it is then; names after "*" are keyword-only,
 * "*args" and "**kwargs" take the rest. Arguments named in `raw` are not converted. An "async" one
 * may return a promise; a script waits for it without seeing it.
 */
export function builtin(
  name: string,
  kind: "sync" | "async",
  params: string,
  fn: HostFunction,
  options: { readonly raw?: readonly string[] } = {},
): Builtin {
  const spec = parseSpec(params);
  const raw = new Set(options.raw ?? []);
  const impl: Impl = (t, _self, args, kwargs) => {
    const values = bind(encodeUtf8(name), spec, args, kwargs);
    const converted: Record<string, unknown> = {};
    for (const [k, v] of values) converted[k] = raw.has(k) ? v : toHost(v);
    return finish(
      t,
      kind,
      name,
      runHost(() => fn(converted, hostCall(t, values))),
    );
  };
  return new Builtin({ name: encodeUtf8(name), impl }, undefined, kind === "async");
}

function runHost<R>(run: () => R): R {
  try {
    return run();
  } catch (e) {
    throw hostFailure(e);
  }
}

function finish(t: Thread, kind: "sync" | "async", name: string, result: unknown): Value | Pending {
  if (!(result instanceof Promise)) return received(t, result);
  if (kind === "sync") throw fault(`internal error: synchronous built-in ${name} returned a promise`);
  return new Pending(result, encodeUtf8(name), (x) => received(t, x));
}

/** What the host gave, as a value that the call pays for; otherwise a loop over large answers could fill the memory. */
function received(t: Thread, result: unknown): Value {
  const x = toStarlark(result);
  if (typeof x === "string") t.allocValue(x.length);
  else if (typeof x === "object" && x !== null && !(result instanceof StarlarkObject)) t.alloc(weight(x));
  return x;
}

function weight(x: Value): number {
  if (typeof x === "string") return x.length;
  if (x instanceof Bytes) return x.s.length;
  if (x instanceof List) return x.a.reduce<number>((sum, e) => sum + weight(e), ELEMENT_BYTES * (1 + x.a.length));
  if (!(x instanceof Dict)) return 0;
  let sum = ENTRY_BYTES * (1 + x.size);
  x.each((k, v) => {
    sum += weight(k) + weight(v);
  });
  return sum;
}

function hostCall(t: Thread, values: ReadonlyMap<string, Value>): HostCall {
  return {
    host: t.host,
    signal: t.signal ?? undefined,
    values,
    charge: (steps) => t.charge(steps),
    alloc: (bytes) => t.alloc(bytes),
    iterate(x) {
      const elements = elementsOf(t, x);
      if (elements === null) throw fault(`got ${typeOf(x)}, want iterable`);
      t.charge(elements.length >> 2);
      return elements;
    },
    call(f, ...args) {
      const inputs = args.map(toStarlark);
      const result = call(t, f, inputs);
      if (result instanceof Pending) return drive(t, settle(result)).then(toHost);
      return toHost(result);
    },
  };
}

interface ParsedSpec {
  readonly params: readonly Spec[];
  readonly varargs: string | null;
  readonly kwargs: string | null;
}

function parseSpec(text: string): ParsedSpec {
  const params: Spec[] = [];
  let varargs: string | null = null;
  let kwargs: string | null = null;
  let keywordOnly = false;
  for (const part of text.split(",").map((s) => s.trim())) {
    if (part === "") continue;
    const found = /^(\*{0,2})([A-Za-z_]\w*)?(\?)?(?:\s*=\s*(.+))?$/.exec(part);
    if (!found) throw new TypeError(`bad parameter ${part}`);
    const [, stars, name = "", optional, literal] = found;
    if (literal !== undefined && optional === undefined) throw new TypeError(`${name}= needs a ? before it`);
    if (stars === "**") kwargs = name;
    else if (stars === "*") {
      keywordOnly = true;
      varargs = name === "" ? null : name;
    } else {
      const fallback = literal === undefined ? {} : { fallback: literalValue(literal) };
      params.push({ name, optional: optional === "?", keywordOnly, ...fallback });
    }
  }
  return { params, varargs, kwargs };
}

function literalValue(text: string): Value {
  const named = new Map<string, Value>([
    ["None", null],
    ["True", true],
    ["False", false],
  ]).get(text);
  if (named !== undefined) return named;
  const quoted = /^"([^"\\]*)"$|^'([^'\\]*)'$/.exec(text);
  if (quoted !== null) return encodeUtf8(quoted[1] ?? quoted[2] ?? "");
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new TypeError(`${text} is not a literal that a parameter can have`);
}

function bind(fn: string, spec: ParsedSpec, args: readonly Value[], kwargs: readonly Keyword[]): Map<string, Value> {
  const out = new Map<string, Value>();
  const positional = spec.params.filter((p) => !p.keywordOnly);
  if (args.length > positional.length && spec.varargs === null) {
    throw fault(`${fn}: got ${args.length} arguments, want at most ${positional.length}`);
  }
  positional.forEach((p, i) => {
    const v = args[i];
    if (v !== undefined) out.set(p.name, v);
  });
  const rest = new Dict();
  for (const [k, v] of kwargs) {
    if (spec.params.some((p) => p.name === k)) {
      if (out.has(k)) throw fault(`${fn}: got multiple values for keyword argument ${quote(k)}`);
      out.set(k, v);
    } else if (spec.kwargs === null)
      throw fault(
        unexpectedKeyword(
          fn,
          k,
          spec.params.map((p) => p.name),
        ),
      );
    else rest.set(k, v, null);
  }
  for (const p of spec.params) {
    if (out.has(p.name)) continue;
    if (!p.optional) throw fault(`${fn}: missing argument for ${p.name}`);
    if (p.fallback !== undefined) out.set(p.name, p.fallback);
  }
  if (spec.varargs !== null) out.set(spec.varargs, new Tuple(args.slice(positional.length)));
  if (spec.kwargs !== null) out.set(spec.kwargs, rest);
  return out;
}

/** A module for `predeclared`: `fs.read(...)`. With `call`, the module itself can be called. */
export function hostModule(name: string, members: Readonly<Record<string, Value>>, callable?: Builtin): Module {
  const entries = Object.entries(members).map(([k, v]): [string, Value] => [encodeUtf8(k), v]);
  return new Module(encodeUtf8(name), new Map(entries), callable ?? null);
}

/** Does it hold an asynchronous function that a program could reach? */
export function mayBeAsync(x: Value): boolean {
  if (x instanceof Builtin) return x.async;
  if (x instanceof Fn) return x.code.generator;
  if (x instanceof Module) return x.call?.async === true || [...x.members.values()].some(mayBeAsync);
  return x instanceof Struct && [...x.fields.values()].some(mayBeAsync);
}

/** The `struct` function: struct(name = value, ...). */
export const structBuiltin: Builtin = new Builtin({
  name: "struct",
  impl(t, _self, args, kwargs) {
    if (args.length > 0) throw fault("struct: unexpected positional arguments");
    t.alloc(64 * (1 + kwargs.length));
    return new Struct("struct", new Map(kwargs));
  },
});
