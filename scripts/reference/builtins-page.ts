/** The page about the built-ins of scripts. */
import { type Audience, type BuiltinRow, builtinModules, builtinTable } from "#script";
import { GENERATED, page, table } from "./markdown.ts";

export function builtinsPage(): string {
  const rows = builtinTable();
  const alone = rows.filter(({ module }) => module === "");
  return page([
    "# Built-ins of scripts",
    GENERATED,
    "The names that scripts of tools (`run(args)`) and hooks (`handle(event, payload)`) see, and those of `when:` and `condition:` " +
      "expressions. The language is [Starlark](starlark.md); its own functions (`len`, `range`, `type`, …) are there as well. " +
      '`print` writes to the log like `log`. There is no `isinstance`: write `type(x) == "string"`.',
    "A function that fails ends the script: a tool then returns an error with the place in the file, a hook that guards blocks. " +
      "Letters say who has it: T tools, H hooks, C conditions. Everything is bounded: text, results, time, steps and memory of a run.",
    ...builtinModules.flatMap((module) => [
      `## ${module.name}`,
      `${module.meaning}.`,
      builtinRows(rows.filter((row) => row.module === module.name)),
    ]),
    "## Functions",
    "Those that stand alone.",
    builtinRows(alone),
  ]);
}

const LETTERS: Readonly<Record<Audience, string>> = { tool: "T", hook: "H", condition: "C" };

function builtinRows(rows: readonly BuiltinRow[]): string {
  return table(
    ["call", "gives", "for", "meaning"],
    rows.map(({ signature, returns, audience, meaning }) => [
      `\`${signature}\``,
      returns,
      audience.map((who) => LETTERS[who]).join(" "),
      meaning,
    ]),
  );
}
