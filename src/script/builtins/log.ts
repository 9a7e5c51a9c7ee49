/** `log`: lines for people. The module can be called; `print` goes the same way. */
import { isAbsent } from "../arguments.ts";
import { jsonText } from "../json-data.ts";
import type { ScriptCall } from "../script-call.ts";
import { type Arguments, type FunctionRow, module, row, scripts } from "./definition.ts";

type Level = "info" | "warn" | "error";

function line(args: Arguments, call: ScriptCall, level: Level): null {
  const { msg, fields } = args;
  const text = typeof msg === "string" ? msg : jsonText(msg);
  call.log(level, isAbsent(fields) ? text : `${text} ${jsonText(fields)}`);
  return null;
}

function leveled(level: Level): FunctionRow {
  return row(
    `${level}(msg, fields?=None)`,
    "None",
    `Writes a line of level ${level}; \`fields\` is added as JSON.`,
  ).runs((args, call) => line(args, call, level));
}

export const log = module(
  "log",
  "Log lines",
  scripts,
  [leveled("info"), leveled("warn"), leveled("error")],
  row("log(*msg)", "None", "Writes a line with all parts, separated by spaces. `print` does the same.").runs(
    (args, call) => {
      const parts = Array.isArray(args.msg) ? args.msg : [];
      call.log("info", parts.map((part) => (typeof part === "string" ? part : jsonText(part))).join(" "));
      return null;
    },
  ),
);
