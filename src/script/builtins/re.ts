/** `re`: regular expressions in RE2 syntax, without look-around and references back, so that time is linear. */

import type { RE2JS } from "re2js";
import type { HostCall } from "#starlark";
import { textOf } from "../arguments.ts";
import { allMatches, checkInput, firstMatch, matchAtStart, replaceMatches } from "../patterns.ts";
import type { ScriptCall } from "../script-call.ts";
import { type Arguments, alias, everyone, type FunctionRow, module, row } from "./definition.ts";

function searching(
  name: string,
  returns: string,
  meaning: string,
  search: (pattern: RE2JS, text: string) => unknown,
): FunctionRow {
  return row(`${name}(pattern, s)`, returns, meaning).runs((args, call, host) => {
    const { pattern, text } = prepared(args, call, host);
    return search(pattern, text);
  });
}

/** A character costs a step: the engine looks at each once. */
function prepared(args: Arguments, call: ScriptCall, host: HostCall): { pattern: RE2JS; text: string } {
  const text = textOf(args, "s");
  checkInput(text);
  host.charge(text.length);
  return { pattern: call.state.patterns.compile(textOf(args, "pattern")), text };
}

const findAll = searching(
  "find_all",
  "list",
  "Every match that does not overlap another, each as a list of groups like that of `match`.",
  allMatches,
);

export const re = module("re", "Regular expressions (RE2)", everyone, [
  searching(
    "match",
    "list or None",
    "`[whole, group1, …]` if the text begins with a match. A group that took no part is None.",
    matchAtStart,
  ),
  searching("search", "list or None", "As `match`, for the first match anywhere in the text.", firstMatch),
  findAll,
  alias("findall", findAll),
  row(
    "replace(pattern, repl, s)",
    "string",
    "The text with every match replaced. `$1` stands for a group, `$$` for a dollar.",
  ).runs((args, call, host) => {
    const { pattern, text } = prepared(args, call, host);
    return replaceMatches(pattern, text, textOf(args, "repl"));
  }),
]);
