/** The page about the built-ins of scripts. */
import { type Audience, type BuiltinRow, builtinModules, builtinTable } from "#script";
import { GENERATED, page, table } from "./markdown.ts";

export function builtinsPage(): string {
  const rows = builtinTable();
  const alone = rows.filter(({ module }) => module === "");
  return page([
    "# Built-ins of scripts",
    GENERATED,
    "The functions that the scripts of tools (`run(args)`) and hooks (`handle(event, payload)`) and the expressions of `when:` and `condition:` can call. The language is [Starlark](starlark.md); its own functions (`len`, `range`, `type`, …) are also available. " +
      '`print` writes to the log like `log`. There is no `isinstance`: write `type(x) == "string"`.',
    "If a function fails, the script ends: a tool returns an error with the position in the file, and a guard hook blocks. The letters in the third column say who can call a function: T tools, H hooks, C conditions. Text, results, time, steps and memory of a run are limited.",
    ...builtinModules.flatMap((module) => [
      `## ${module.name}`,
      `${module.meaning}.`,
      builtinRows(rows.filter((row) => row.module === module.name)),
    ]),
    "## Functions",
    "Functions without a module.",
    builtinRows(alone),
  ]);
}

const LETTERS: Readonly<Record<Audience, string>> = { tool: "T", hook: "H", condition: "C" };

function builtinRows(rows: readonly BuiltinRow[]): string {
  return table(
    ["call", "returns", "for", "meaning"],
    rows.map(({ signature, returns, audience, meaning }) => [
      `\`${signature}\``,
      returns,
      audience.map((who) => LETTERS[who]).join(" "),
      meaning,
    ]),
  );
}
