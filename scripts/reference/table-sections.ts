/** Sections about tables of fields: one heading, one sentence and one row for each field. */
import { table } from "./markdown.ts";

interface ShownTable {
  readonly title: string;
  readonly about: string;
  readonly fields: Readonly<Record<string, ShownField>>;
}

interface ShownField {
  readonly type: { readonly shown: string; readonly tables?: readonly ShownTable[] };
  readonly meaning: string;
  readonly required?: true;
  readonly default?: string;
}

export function titleLink(title: string): string {
  return `[${title}](#${title.toLowerCase().replaceAll(" ", "-")})`;
}

export function tableSection({ title, about, fields }: ShownTable): readonly string[] {
  return [
    `## ${title}`,
    about,
    table(
      ["field", "type", "default", "meaning"],
      Object.entries(fields).map(([name, field]) => [
        `\`${name}\``,
        [field.type.shown, ...(field.type.tables ?? []).map((one) => titleLink(one.title))].join(", "),
        field.required ? "required" : (field.default ?? "–"),
        field.meaning,
      ]),
    ),
  ];
}

/** The table and those of its fields, each once, in the order in which a reader meets them. */
export function withInnerTables(outer: ShownTable): readonly ShownTable[] {
  const found = new Set<ShownTable>();
  const collect = (one: ShownTable): void => {
    if (found.has(one)) return;
    found.add(one);
    for (const { type } of Object.values(one.fields)) for (const inner of type.tables ?? []) collect(inner);
  };
  collect(outer);
  return [...found];
}
