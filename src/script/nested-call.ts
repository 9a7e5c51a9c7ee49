/** Calls of tools that scripts make: read from their arguments, bounded in depth, through the same chain as a call of the model. */

import { defined } from "#base";
import type { ToolOutput } from "#engine";
import { displayText } from "#protocol";
import { dictOf, optionalNumber, textOf } from "./arguments.ts";
import type { Arguments } from "./builtins/definition.ts";
import { callDepth, nested } from "./call-depth.ts";
import { jsonData } from "./json-data.ts";
import type { ScriptCall } from "./script-call.ts";
import type { ScriptMeta } from "./services.ts";
import { spanMs } from "./time-span.ts";

export function registryOf(call: ScriptCall): ScriptMeta {
  const { meta } = call.services;
  if (meta === undefined) throw new Error("meta is not enabled: set meta.enabled in harness.md");
  return meta;
}

/** Of `name`, `args` and `timeout_seconds`. Throws where it would be too deep; what it gives makes the call. */
export function nestedCall(args: Arguments, call: ScriptCall): (signal?: AbortSignal) => Promise<ToolOutput> {
  const name = textOf(args, "name");
  const { maxCallDepth } = call.services;
  if (callDepth() >= maxCallDepth) {
    throw new Error(`calls of tools by scripts nest at most ${maxCallDepth} deep (meta.max_call_depth)`);
  }
  const seconds = optionalNumber(args, "timeout_seconds");
  const limit = seconds === undefined ? {} : { timeoutMs: spanMs(seconds, 0) };
  const input = inputOf(dictOf(args, "args"));
  return (signal) => nested(() => call.parts.callTool(name, input, { ...limit, ...defined({ signal }) }));
}

/** The arguments of a tool, as JSON. */
export function inputOf(fields: Arguments): Arguments {
  return jsonData(fields) as Arguments; // a dict stays one
}

/** The text blocks of a result; anything else is named. */
export function resultText({ content }: ToolOutput): string {
  return displayText(content);
}
