/** Reads the user's `config.toml`. */
import { defaultSettings, type Settings } from "./settings.ts";

export interface LoadedConfig {
  readonly settings: Settings;
  /** One line each, ready to be shown. */
  readonly warnings: readonly string[];
}

/** `text` is the content of `file`; nothing is read here. What it leaves out is as in `base`. */
export async function parseUserConfig(file: string, text: string, base = defaultSettings): Promise<LoadedConfig> {
  // Most runs have no such file, and need neither the parser nor the tables.
  const [{ readTomlFile }, { toSettings, userTable }] = await Promise.all([
    import("./toml-file.ts"),
    import("./user-table.ts"),
  ]);
  const { values, warnings } = readTomlFile(file, text, userTable);
  return { settings: toSettings(values, base), warnings };
}
