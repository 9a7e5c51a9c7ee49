/** The table of built-ins says what is there: every row exists with that signature, and nothing is there without a row. */
import { expect, test } from "vitest";
import { Module, type Value } from "#starlark";
import { createScriptRig } from "../../test/fakes/script-rig.ts";
import { builtinsFor, builtinTable } from "./builtins/table.ts";

const audiences = ["tool", "hook", "condition"] as const;

function namesOf(names: Readonly<Record<string, Value>>): string[] {
  return Object.entries(names).flatMap(([name, value]) => {
    if (!(value instanceof Module)) return [name];
    return [...(value.call === null ? [] : [name]), ...[...value.members.keys()].map((member) => `${name}.${member}`)];
  });
}

test.each(audiences)("what a %s sees is what the table says", (audience) => {
  const rows = builtinTable().filter((row) => row.audience.includes(audience));
  const told = rows.map(({ signature }) => signature.slice(0, signature.indexOf("(")));
  expect(told.sort()).toEqual(namesOf(builtinsFor(audience, { effects: "real" })).sort());
});

test("rows are complete", () => {
  for (const row of builtinTable()) {
    expect(row.signature).toMatch(/^[a-z0-9_]+(\.[a-z0-9_]+)?\(.*\)$/);
    expect(
      [row.returns, row.meaning].every((text) => text.length > 1),
      row.signature,
    ).toBe(true);
  }
});

test.each(builtinTable().map((row) => [row.signature, row] as const))(
  "%s takes exactly these parameters",
  async (signature) => {
    const name = signature.slice(0, signature.indexOf("("));
    const params = signature
      .slice(name.length + 1, -1)
      .replaceAll(/"[^"]*"/g, "")
      .split(",")
      .map((part) => part.split("=")[0]?.trim() ?? "")
      .filter((part) => part !== "");
    if (params.some((param) => param.startsWith("*"))) return;
    const { evaluate } = createScriptRig();
    const tooMany = await evaluate(
      `${name}(${Array.from({ length: params.length + 1 }, () => "None").join(", ")})`,
    ).catch((error: Error) => error.message);
    expect(tooMany).toMatch(/got \d+ arguments, want|unexpected|accepts/);
    if (/^json\./.test(name)) return;
    const keywords = params.map((param) => `${param}=None`).join(", ");
    const byName = await evaluate(`${name}(${keywords})`).catch((error: Error) => error.message);
    expect(String(byName)).not.toMatch(/unexpected keyword|missing argument/);
  },
);

test("hooks have nothing that changes files or runs programs, conditions nothing that reaches out", () => {
  const names = (audience: (typeof audiences)[number]) => namesOf(builtinsFor(audience, { effects: "real" }));
  expect(
    names("hook").filter((name) =>
      /^exec|^fs\.(write|append|remove|mkdir|copy|move|replace|insert|delete)|register/.test(name),
    ),
  ).toEqual([]);
  expect(
    names("condition").filter((name) =>
      /^(fs|http|exec|meta|secrets|cache|metrics|log|emit|events|env|os|sleep|random|uuid|annotate)\b|ctx\.(set|delete|clear)/.test(
        name,
      ),
    ),
  ).toEqual([]);
});
