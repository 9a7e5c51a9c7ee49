/** `x.name`, method calls, `dir` and `hasattr`: the only way from a value to anything it offers. */

import { fault } from "../errors.ts";
import { dictMethods } from "../library/dict-methods.ts";
import { listMethods } from "../library/list-methods.ts";
import { setMethods } from "../library/set-methods.ts";
import { bytesMethods, stringMethods } from "../library/string-methods.ts";
import { nearest } from "../syntax/spelling.ts";
import { Dict, StarlarkSet } from "./dict.ts";
import { Builtin, Bytes, List, type Method, Module, Struct, typeOf, type Value } from "./values.ts";

function table(methods: readonly Method[]): ReadonlyMap<string, Method> {
  return new Map(methods.map((m) => [m.name, m]));
}

const strings = table(stringMethods);
const bytes = table(bytesMethods);
const lists = table(listMethods);
const dicts = table(dictMethods);
const sets = table(setMethods);
const none: ReadonlyMap<string, Method> = new Map();

function methodsOf(x: Value): ReadonlyMap<string, Method> {
  if (typeof x === "string") return strings;
  if (x instanceof List) return lists;
  if (x instanceof Dict) return dicts;
  if (x instanceof StarlarkSet) return sets;
  return x instanceof Bytes ? bytes : none;
}

/** A method name with its meaning for each type, looked up once for each place that uses it. */
export interface MethodName {
  readonly name: string;
  readonly string: Method | null;
  readonly list: Method | null;
  readonly dict: Method | null;
}

export function methodName(name: string): MethodName {
  return {
    name,
    string: strings.get(name) ?? null,
    list: lists.get(name) ?? null,
    dict: dicts.get(name) ?? null,
  };
}

/** The method of a built-in type, or null. */
export function findMethod(x: Value, name: MethodName): Method | null {
  if (typeof x === "string") return name.string;
  if (x instanceof List) return name.list;
  if (x instanceof Dict) return name.dict;
  return methodsOf(x).get(name.name) ?? null;
}

/** The attribute, or undefined. */
export function attribute(x: Value, name: string): Value | undefined {
  const method = methodsOf(x).get(name);
  if (method !== undefined) return new Builtin(method, x);
  if (x instanceof Struct) return x.fields.get(name);
  if (x instanceof Module) return x.members.get(name);
  return undefined;
}

/** The attribute; fails with a suggestion if there is none. */
export function getAttribute(x: Value, name: string): Value {
  const v = attribute(x, name);
  if (v !== undefined) return v;
  const guess = nearest(name, attributeNames(x));
  throw fault(noAttribute(x, name) + (guess === "" ? "" : ` (did you mean .${guess}?)`));
}

/** The message for an attribute that does not exist. */
export function noAttribute(x: Value, name: string): string {
  if (x instanceof Struct) {
    const who = x.constructorName === "struct" ? "" : `${x.constructorName} `;
    return `${who}struct has no .${name} attribute`;
  }
  return `${typeOf(x)} has no .${name} field or method`;
}

/** All attribute names, sorted. */
export function attributeNames(x: Value): string[] {
  if (x instanceof Struct) return [...x.fields.keys()].sort();
  if (x instanceof Module) return [...x.members.keys()].sort();
  return [...methodsOf(x).keys()].sort();
}

export function setAttribute(x: Value, name: string): never {
  throw fault(`can't assign to .${name} field of ${typeOf(x)}`);
}
