/** The page about eval cases. */
import { evalTables } from "#artifacts";
import { GENERATED, page, table } from "./markdown.ts";

/** The first tables are those of the file; the others are its assertions. */
const FILE_TABLES = ["Case", "Setup", "Copied file", "Turn"];

export function evalsPage(): string {
  const link = (title: string): string => `[${title}](#${title.toLowerCase().replaceAll(" ", "-")})`;
  const ofFile = evalTables.filter(({ title }) => FILE_TABLES.includes(title));
  const assertions = evalTables.filter(({ title }) => !FILE_TABLES.includes(title));
  return page([
    "# Eval cases",
    GENERATED,
    "A case is a YAML file; [`harness eval`](cli.md#harness-eval) runs it, and [the guide](../guide/evals.md) shows how to write one. " +
      "An unknown key gives a warning with the most similar known key. A wrong value gives an error with file, line and column, and Harness runs no case. A file has at most 131,072 characters.",
    ...ofFile.flatMap(({ title, about, fields }) => [
      `## ${title}`,
      about,
      table(
        ["field", "type", "default", "meaning"],
        Object.entries(fields).map(([name, field]) => {
          const tables = (field.type.tables ?? []).filter((one) => ofFile.includes(one));
          const kinds = [field.type.shown, ...tables.map((one) => link(one.title))];
          const type = name === "grade" ? [...kinds, link("Assertions")] : kinds;
          return [`\`${name}\``, type.join(", "), field.required ? "required" : (field.default ?? "–"), field.meaning];
        }),
      ),
    ]),
    "## Assertions",
    "An entry of `grade` has a `type` and the fields of that type. The fields are required unless marked optional. Numbers may be in quotes. A failure that a retry fixed, for example a model call after a rate limit, is not an error.",
    table(
      ["type", "holds when", "fields"],
      assertions.map(({ title, about, fields }) => {
        const own = Object.entries(fields).filter(([name]) => name !== "type");
        const shown = own.map(([name, field]) => {
          return `\`${name}\`: ${field.type.shown}${field.required ? "" : ", optional"}. ${field.meaning}`;
        });
        return [`\`${title}\``, about, shown.join("<br>") || "–"];
      }),
    ),
  ]);
}
