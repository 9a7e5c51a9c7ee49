/** Arguments of built-ins, checked: each function gives the value in its type or says which parameter is wrong, and how. */
import { Opaque } from "#starlark";
import type { Arguments } from "./builtins/definition.ts";

export function textOf(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw wrong(name, value, "string");
}

export function optionalText(args: Arguments, name: string): string | undefined {
  return isAbsent(args[name]) ? undefined : textOf(args, name);
}

/** Text, or bytes as they are. */
export function bytesOf(args: Arguments, name: string): Uint8Array {
  const value = args[name];
  if (value instanceof Uint8Array) return value;
  return Buffer.from(textOf(args, name), "utf8");
}

export function numberOf(args: Arguments, name: string): number {
  const value = args[name];
  if (typeof value === "number") return value;
  throw wrong(name, value, "number");
}

export function integerOf(args: Arguments, name: string): number {
  const value = args[name];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw wrong(name, value, "int");
}

export function optionalInteger(args: Arguments, name: string): number | undefined {
  return isAbsent(args[name]) ? undefined : integerOf(args, name);
}

export function optionalNumber(args: Arguments, name: string): number | undefined {
  return isAbsent(args[name]) ? undefined : numberOf(args, name);
}

/** A dict with text keys; absent and None are an empty one. */
export function dictOf(args: Arguments, name: string): Readonly<Record<string, unknown>> {
  const value = args[name];
  if (isAbsent(value)) return {};
  if (isRecord(value)) return value;
  throw wrong(name, value, "dict with string keys");
}

/** A list of texts; absent and None are an empty one. */
export function textsOf(args: Arguments, name: string): readonly string[] {
  const value = args[name];
  if (isAbsent(value)) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw wrong(name, value, "list of strings");
}

/** Text, or what a secret hides; for the few places where a secret may be used. */
export function revealed(value: unknown, name: string): string {
  if (value instanceof Opaque) return Buffer.from(value.reveal(), "latin1").toString("utf8");
  if (typeof value === "string") return value;
  throw wrong(name, value, "string or secret");
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

function wrong(name: string, value: unknown, want: string): Error {
  return new Error(`for parameter ${name}: got ${typeName(value)}, want ${want}`);
}

/** The name that the language has for the type of converted data. */
export function typeName(value: unknown): string {
  if (isAbsent(value)) return "NoneType";
  if (value instanceof Opaque) return value.typeName;
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Set) return "set";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    default:
      return "dict";
  }
}
