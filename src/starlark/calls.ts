/** Calling values: binding of arguments to parameters, frames for the traceback, and unfinished calls. */

import { fault, overLimit, type Position, StarlarkError } from "./errors.ts";
import { nearest } from "./syntax/spelling.ts";
import type { Thread } from "./thread.ts";
import { Dict } from "./values/dict.ts";
import { quote } from "./values/quote.ts";
import { elementsOf } from "./values/truth.ts";
import { encodeUtf8 } from "./values/utf8.ts";
import {
  Builtin,
  Fn,
  type FunctionCode,
  type Keyword,
  Module,
  noKeywords,
  Pending,
  Tuple,
  typeOf,
  type Value,
} from "./values/values.ts";

/** Calls any value. The result is Pending for a generator function or an unfinished built-in. */
export function call(
  t: Thread,
  f: Value,
  args: readonly Value[],
  kwargs: readonly Keyword[] = noKeywords,
): Value | Pending {
  if (f instanceof Fn) {
    const bound = f.n === args.length && kwargs.length === 0 ? args : bindChecked(f, args, kwargs);
    const result = enter(t, f, bound);
    if (!f.code.generator) return result;
    // The body of a generator program returns a generator where its type says Value.
    return new Pending(result as unknown as Generator<unknown, Value, Value>);
  }
  if (f instanceof Builtin) return callBuiltin(t, f, args, kwargs);
  if (f instanceof Module && f.call !== null) return callBuiltin(t, f.call, args, kwargs);
  throw fault(`invalid call of non-function (${typeOf(f)})`);
}

/** Spreading arguments costs as much as a small call, so the usual numbers of them are written out. */
function enter(t: Thread, f: Fn, args: readonly Value[]): Value {
  switch (args.length) {
    case 0:
      return f.j(t);
    case 1:
      return f.j(t, args[0]!);
    case 2:
      return f.j(t, args[0]!, args[1]!);
    case 3:
      return f.j(t, args[0]!, args[1]!, args[2]!);
    default:
      return f.j(t, ...args);
  }
}

/** As `call`, where nothing may be left unfinished. */
export function callSync(t: Thread, f: Value, args: readonly Value[], kwargs: readonly Keyword[] = noKeywords): Value {
  const result = call(t, f, args, kwargs);
  return result instanceof Pending ? unfinished() : result;
}

export function unfinished(): never {
  throw new StarlarkError("internal", "internal error: asynchronous call in a synchronous program");
}

/** Finishes a call inside a generator program. What it yields is awaited by the driver. */
export function* settle(pending: Pending): Generator<unknown, Value, Value> {
  try {
    if (pending.steps !== null) return yield* pending.steps;
    return pending.finish(yield pending.promise);
  } catch (e) {
    throw pending.name === "" ? e : builtinFailure(e, pending.name);
  }
}

function callBuiltin(t: Thread, f: Builtin, args: readonly Value[], kwargs: readonly Keyword[]): Value | Pending {
  try {
    return f.method.impl(t, f.self ?? null, args, kwargs);
  } catch (e) {
    throw builtinFailure(e, f.name);
  }
}

/** Adds a built-in's frame to an error on its way out. */
export function builtinFailure(e: unknown, name: string): StarlarkError {
  const error = asStarlarkError(e);
  error.trail.push({ name, position: null });
  return error;
}

/** Adds a function's frame. Generated code calls this from the catch clause of each body. */
export function frameFailure(
  e: unknown,
  code: FunctionCode,
  positionOf: (id: number) => Position,
  at: number,
): StarlarkError {
  const error = asStarlarkError(e);
  const id = error.pinned >= 0 ? error.pinned : at;
  error.pinned = -1;
  error.trail.push({ name: code.name, position: positionOf(id) });
  return error;
}

/** Remembers where inside a comprehension an error came from. */
export function pin(e: unknown, at: number): StarlarkError {
  const error = asStarlarkError(e);
  if (error.pinned < 0) error.pinned = at;
  return error;
}

/** Any thrown thing as an error of the language: the engine's own limits become ours, the rest is a bug. */
export function asStarlarkError(e: unknown): StarlarkError {
  if (e instanceof StarlarkError) return e;
  if (e instanceof RangeError) {
    return /call stack/.test(e.message)
      ? overLimit("depth", "call stack too deep")
      : overLimit("size", `value too large (${e.message})`);
  }
  const message = e instanceof Error ? e.message : String(e);
  return new StarlarkError("internal", encodeUtf8(`internal error: ${message}`), { cause: e });
}

/** Adds the frame of a function that could not be entered. */
export function entryFailure(e: unknown, code: FunctionCode): StarlarkError {
  const error = asStarlarkError(e);
  error.trail.push({ name: code.name, position: code.entry });
  return error;
}

function bindChecked(f: Fn, args: readonly Value[], kwargs: readonly Keyword[]): Value[] {
  try {
    return bindArguments(f, args, kwargs);
  } catch (e) {
    throw entryFailure(e, f.code);
  }
}

/** One value for each parameter of a function, in the order its body takes them. */
function bindArguments(f: Fn, args: readonly Value[], kwargs: readonly Keyword[]): Value[] {
  const { code, defaults } = f;
  const { params, name } = code;
  const total = params.length;
  if (total === 0 && !code.varargs && !code.kwargs) {
    const given = args.length + kwargs.length;
    if (given > 0) throw fault(`function ${name} accepts no arguments (${given} given)`);
    return [];
  }
  const ordinary = total - code.keywordOnly;
  if (args.length > ordinary && !code.varargs) {
    const atMost = defaults.length > code.keywordOnly ? "at most " : "";
    throw fault(
      `function ${name} accepts ${atMost}${ordinary} positional argument${ordinary === 1 ? "" : "s"} (${args.length} given)`,
    );
  }
  const taken = Math.min(args.length, ordinary);
  const locals: (Value | undefined)[] = args.slice(0, taken);
  for (let i = taken; i < total; i++) locals.push(undefined);
  let rest: Dict | null = null;
  if (code.kwargs) rest = new Dict();
  for (const [key, value] of kwargs) {
    const i = params.indexOf(key);
    if (i >= 0) {
      if (locals[i] !== undefined) throw fault(`function ${name} got multiple values for parameter ${quote(key)}`);
      locals[i] = value;
    } else if (rest === null) throw fault(unexpected(name, key, params));
    else if (!rest.set(key, value, null))
      throw fault(`function ${name} got multiple values for parameter ${quote(key)}`);
  }
  const bound = withDefaults(f, locals);
  if (code.varargs) bound.push(new Tuple(args.slice(taken)));
  if (rest !== null) bound.push(rest);
  return bound;
}

function unexpected(name: string, key: string, params: readonly string[]): string {
  const guess = nearest(key, params);
  const hint = guess === "" ? "" : ` (did you mean ${guess}?)`;
  return `function ${name} got an unexpected keyword argument ${quote(key)}${hint}`;
}

function withDefaults(f: Fn, locals: readonly (Value | undefined)[]): Value[] {
  const { code, defaults } = f;
  const firstDefault = code.params.length - defaults.length;
  const missing: string[] = [];
  const bound: Value[] = [];
  locals.forEach((v, i) => {
    const value = v === undefined && i >= firstDefault ? defaults[i - firstDefault] : v;
    if (value === undefined) missing.push(code.params[i] ?? "");
    else bound.push(value);
  });
  if (missing.length > 0) {
    const s = missing.length > 1 ? "s" : "";
    throw fault(`function ${code.name} missing ${missing.length} argument${s} (${missing.join(", ")})`);
  }
  return bound;
}

/** Calls with the elements of `star` and the entries of `starstar` as further arguments. */
export function callSpread(
  t: Thread,
  f: Value,
  args: Value[],
  kwargs: Keyword[],
  star: Value | undefined,
  starstar: Value | undefined,
): Value | Pending {
  if (starstar !== undefined) spreadKeywords(t, kwargs, starstar);
  if (star !== undefined) spreadPositional(t, args, star);
  return call(t, f, args, kwargs);
}

function spreadPositional(t: Thread, args: Value[], star: Value): void {
  const elements = elementsOf(t, star);
  if (elements === null) throw fault(`argument after * must be iterable, not ${typeOf(star)}`);
  t.charge(elements.length);
  if (elements.length > MAX_SPREAD) throw overLimit("size", `too many arguments (limit ${MAX_SPREAD})`);
  for (const e of elements) args.push(e);
}
/** More arguments than the engine passes safely. */
const MAX_SPREAD = 10_000;

function spreadKeywords(t: Thread, kwargs: Keyword[], star: Value): void {
  if (!(star instanceof Dict)) throw fault(`argument after ** must be a mapping, not ${typeOf(star)}`);
  t.charge(star.size);
  for (const [k, v] of star.entries()) {
    if (typeof k !== "string") throw fault(`keywords must be strings, not ${typeOf(k)}`);
    kwargs.push([k, v]);
  }
}
