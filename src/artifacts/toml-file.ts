/** A TOML file of the user, read by its table. Wrong values fail with file and line; unknown keys only warn, with the nearest one. */
import { ReasonError } from "#protocol";
import type { Problem } from "./project.ts";
import { type FieldMap, readTable, type Table, type ValuesOf } from "./schema.ts";
import { parseToml } from "./toml-tree.ts";

/** `text` is the content of `file`; nothing is read here. Throws ConfigInvalid with every problem. */
export function readTomlFile<Fields extends FieldMap>(
  file: string,
  text: string,
  table: Table<Fields>,
): { readonly values: ValuesOf<Fields>; readonly warnings: readonly string[] } {
  const { root, nameAt } = parseToml(file, text);
  const problems: Problem[] = [];
  const { values } = readTable(table, root, {
    file,
    hash: "",
    tier: "project",
    report: (problem) => void problems.push(problem),
  });
  const at = ({ place }: Problem): string => `${file}:${place.line}: `;
  const wrong = problems.filter(({ severity }) => severity === "error");
  if (wrong.length > 0) {
    const lines = wrong.map((problem) => {
      const { place, key, message, expected } = problem;
      const name = nameAt(place);
      // The name in the file has the place in its list as well.
      const told = key === undefined ? message : message.slice(key.length + 2);
      return `${at(problem)}${name === "" ? "" : `${name}: `}${told}${expected === undefined ? "" : ` Expected: ${expected}.`}`;
    });
    throw new ReasonError("ConfigInvalid", lines.join("\n"));
  }
  return {
    values,
    warnings: problems.map((problem) => {
      const { place, code, message, nearest } = problem;
      const told = code === "unknown-key" ? `unknown key "${nameAt(place)}" is ignored.` : message;
      return `${at(problem)}${told}${nearest === undefined ? "" : ` Did you mean "${nearest}"?`}`;
    }),
  };
}
