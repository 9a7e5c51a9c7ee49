/**
 * How a built-in is written down: one row that is at once its implementation, its signature and its line in the reference. The
 * same rows make the names that tools, hooks and conditions see.
 */
import { defined } from "#base";
import type { HostCall, Value } from "#starlark";
import type { ScriptCall } from "../script-call.ts";

/** Who may use a function. Conditions are `when:` and `condition:` expressions. */
export type Audience = "tool" | "hook" | "condition";

export type Arguments = Readonly<Record<string, unknown>>;

interface Row {
  readonly name: string;
  /** In the notation of `builtin`: "url, headers?=None". */
  readonly params: string;
  /** The parameters as people read them, where the notation cannot say it. */
  readonly shown?: string;
  readonly returns: string;
  readonly meaning: string;
  /** Absent: whoever sees the module; tools and hooks for a function that stands alone. */
  readonly audience?: readonly Audience[];
}

export interface FunctionRow extends Row {
  /** Reaches outside the process, or waits: refused while examples are checked. Such functions may be asynchronous. */
  readonly effect?: boolean;
  /** What a tool that names it becomes. */
  readonly toolClass?: "sensitive" | "mutating";
  /** Arguments that are handed over as values of the language. */
  readonly raw?: readonly string[];
  run(args: Arguments, call: ScriptCall, host: HostCall): unknown;
}

/** A function that the language already has. */
export interface NativeRow extends Row {
  readonly native: Value;
}

export interface ModuleRow {
  readonly name: string;
  readonly meaning: string;
  readonly audience: readonly Audience[];
  readonly functions: readonly (FunctionRow | NativeRow)[];
  /** What calling the module itself does: `log("…")`. */
  readonly call?: FunctionRow;
}

export const everyone: readonly Audience[] = ["tool", "hook", "condition"];
export const scripts: readonly Audience[] = ["tool", "hook"];
export const toolsOnly: readonly Audience[] = ["tool"];

/** `call` is for a module that can be called itself. */
export function module(
  name: string,
  meaning: string,
  audience: readonly Audience[],
  functions: ModuleRow["functions"],
  call?: FunctionRow,
): ModuleRow {
  return { name, meaning, audience, functions, ...defined({ call }) };
}

/** A row as it is usually written: `row("get(key, default?=None)", "value", "The value.").runs((args, call) => …)`. */
export function row(
  signature: string,
  returns: string,
  meaning: string,
  more: Omit<FunctionRow, "name" | "params" | "returns" | "meaning" | "run"> = {},
) {
  const open = signature.indexOf("(");
  const [name, params] = [signature.slice(0, open), signature.slice(open + 1, -1)];
  return { runs: (run: FunctionRow["run"]): FunctionRow => ({ name, params, returns, meaning, run, ...more }) };
}

/** The same function under another name that scripts use. */
export function alias(name: string, of: FunctionRow): FunctionRow {
  return { ...of, name, meaning: `Another name for \`${of.name}\`.` };
}
