/** Reads the user's `config.toml`. Wrong values fail with file and line; unknown keys only warn, with the nearest one. */
import { ReasonError } from "#protocol";
import type { Problem } from "./project.ts";
import { readTable } from "./schema.ts";
import type { Settings } from "./settings.ts";

export interface LoadedConfig {
  readonly settings: Settings;
  /** One line each, ready to be shown. */
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`; nothing is read here. */
export async function parseUserConfig(file: string, text: string): Promise<LoadedConfig> {
  // Most runs have no such file, and need neither the parser nor the tables.
  const [{ parseToml }, { toSettings, userTable }] = await Promise.all([
    import("./toml-tree.ts"),
    import("./user-table.ts"),
  ]);
  const { root, nameAt } = parseToml(file, text);
  const problems: Problem[] = [];
  const { values } = readTable(userTable, root, {
    file,
    hash: "",
    tier: "project",
    report: (problem) => problems.push(problem),
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
    throw new ReasonError("ConfigInvalid", { detail: lines.join("\n") });
  }
  return {
    settings: toSettings(values),
    warnings: problems.map((problem) => {
      const { place, code, message, nearest } = problem;
      const told = code === "unknown-key" ? `unknown key "${nameAt(place)}" is ignored.` : message;
      return `${at(problem)}${told}${nearest === undefined ? "" : ` Did you mean "${nearest}"?`}`;
    }),
  };
}
