/** How built-ins take their arguments: counts, names and types, with starlark-go's messages. */
import { fault } from "../errors.ts";
import { nearest } from "../syntax/spelling.ts";
import type { Thread } from "../thread.ts";
import { isInt } from "../values/integers.ts";
import { quote } from "../values/quote.ts";
import { prefixed } from "../values/subscript.ts";
import { elementsOf } from "../values/truth.ts";
import { Builtin, Fn, type Impl, type Keyword, type Method, Module, typeOf, type Value } from "../values/values.ts";

/** Positional arguments only, between min and max of them. */
export function positional(
  fn: string,
  args: readonly Value[],
  kwargs: readonly Keyword[],
  min: number,
  max: number,
): void {
  if (kwargs.length > 0) throw fault(`${fn}: unexpected keyword arguments`);
  const n = args.length;
  if (n < min) throw fault(`${fn}: got ${n} arguments, want ${min < max ? "at least " : ""}${min}`);
  if (n > max) throw fault(`${fn}: got ${n} arguments, want ${max > min ? "at most " : ""}${max}`);
}

/** A method of positional arguments only, between min and max of them; `fast` is how it takes exactly none or one. */
export function method(
  name: string,
  min: number,
  max: number,
  run: (t: Thread, recv: Value, args: readonly Value[]) => Value,
  fast: Pick<Method, "f0" | "f1"> = {},
): Method {
  const impl: Impl = (t, recv, args, kwargs) => {
    positional(name, args, kwargs, min, max);
    return run(t, recv, args);
  };
  return { name, impl, ...fast };
}

/**
 * Positional and keyword arguments for named parameters. A name that ends in "?" and all after it are optional; "??" also takes
 * None for absent. Absent ones are undefined in the result.
 */
export function named(
  fn: string,
  args: readonly Value[],
  kwargs: readonly Keyword[],
  params: readonly string[],
): (Value | undefined)[] {
  if (args.length > params.length) {
    throw fault(`${fn}: got ${args.length} arguments, want at most ${params.length}`);
  }
  const names = params.map((p) => p.replace(/\?+$/, ""));
  const out: (Value | undefined)[] = names.map(() => undefined);
  const given = new Set<number>();
  const put = (i: number, v: Value): void => {
    given.add(i);
    if (v !== null || !params[i]?.endsWith("??")) out[i] = v;
  };
  args.forEach((v, i) => {
    put(i, v);
  });
  for (const [name, v] of kwargs) {
    const i = names.indexOf(name);
    if (i < 0) throw fault(unexpectedKeyword(fn, name, names));
    if (given.has(i)) throw fault(`${fn}: got multiple values for keyword argument ${quote(name)}`);
    put(i, v);
  }
  for (let i = args.length; i < params.length && !params[i]?.endsWith("?"); i++) {
    if (!given.has(i)) throw fault(`${fn}: missing argument for ${names[i]}`);
  }
  return out;
}

/** The message for a keyword no parameter has, with a suggestion. */
export function unexpectedKeyword(fn: string, name: string, names: readonly string[]): string {
  const guess = nearest(name, names);
  return `${fn}: unexpected keyword argument ${quote(name)}${guess === "" ? "" : ` (did you mean ${guess}?)`}`;
}

/** A parameter in a message: its number from 1, or its name. */
type Param = number | string;

/** A named parameter in a message: starlark-go quotes the names of keywords that were given. */
export function paramName(name: string, kwargs: readonly Keyword[]): string {
  return kwargs.some(([k]) => k === name) ? quote(name) : name;
}

function wrong(fn: string, param: Param, v: Value, want: string): Error {
  return fault(`${fn}: for parameter ${param}: got ${typeOf(v)}, want ${want}`);
}

export function wantString(fn: string, param: Param, v: Value | undefined): string {
  if (typeof v !== "string") throw wrong(fn, param, v ?? null, "string");
  return v;
}

export function wantBool(fn: string, param: Param, v: Value): boolean {
  if (typeof v !== "boolean") throw wrong(fn, param, v, "bool");
  return v;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** An int of 64 bits, as Go's int. */
export function wantInt(fn: string, param: Param, v: Value | undefined): number | bigint {
  if (v === undefined || !isInt(v)) throw wrong(fn, param, v ?? null, "int");
  if (typeof v === "bigint" && (v < MIN_INT64 || v > MAX_INT64)) {
    throw fault(`${fn}: for parameter ${param}: ${v} out of range (want value in signed 64-bit range)`);
  }
  return v;
}

/** An int used as a count or index, where anything beyond 2^53 is as good as the largest. */
export function wantCount(fn: string, param: Param, v: Value): number {
  return Number(wantInt(fn, param, v));
}

export function wantIterable(t: Thread, fn: string, param: Param, v: Value | undefined): readonly Value[] {
  const elements = v === undefined ? null : elementsOf(t, v);
  if (elements === null) throw wrong(fn, param, v ?? null, "iterable");
  t.charge(elements.length >> 2);
  return elements;
}

function isCallable(v: Value): boolean {
  return v instanceof Fn || v instanceof Builtin || (v instanceof Module && v.call !== null);
}

export function wantCallable(fn: string, param: Param, v: Value): Value {
  if (!isCallable(v)) throw wrong(fn, param, v, "callable");
  return v;
}

/** Runs a step of a built-in and puts the built-in's name before the message of its failure. */
export function naming<R>(fn: string, step: () => R): R {
  return prefixed(`${fn}: `, step);
}
