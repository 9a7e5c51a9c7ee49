/**
 * Typed access to the arguments of a call. The chain has already validated them against the tool's schema; a wrong type
 * here still fails as `InvalidArguments` and is never coerced.
 */
import { ToolError } from "#engine";

export type Arguments = Readonly<Record<string, unknown>>;

export function textArgument(args: Arguments, name: string): string {
  const value = optionalText(args, name);
  if (value === undefined) throw new ToolError(`'${name}' is missing`, "InvalidArguments");
  return value;
}

export function optionalText(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || typeof value === "string") return value;
  throw wrongType(name, "a string");
}

/** Undefined when absent; below `minimum` it is refused. */
export function optionalInteger(args: Arguments, name: string, minimum: number): number | undefined {
  const value = args[name];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= minimum) return value;
  throw wrongType(name, `a whole number of at least ${minimum}`);
}

/** False when absent. */
export function flagArgument(args: Arguments, name: string): boolean {
  const value = args[name] ?? false;
  if (typeof value === "boolean") return value;
  throw wrongType(name, "true or false");
}

/** Empty when absent. */
export function textListArgument(args: Arguments, name: string): readonly string[] {
  const value = args[name] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw wrongType(name, "a list of strings");
}

function wrongType(name: string, wanted: string): ToolError {
  return new ToolError(`'${name}' must be ${wanted}`, "InvalidArguments");
}
