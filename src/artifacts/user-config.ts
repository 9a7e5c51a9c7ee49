/** Reads the user's `config.toml`. */
import type { ValuesOf } from "./schema.ts";
import { defaultSettings, type Settings } from "./settings.ts";
import type { userTable } from "./user-table.ts";

type UserValues = ValuesOf<typeof userTable.fields>;

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
  const settings = toSettings(values, base);
  return { settings: { ...settings, origins: { ...settings.origins, ...originsIn(values, file) } }, warnings };
}

/** By the names that a profile has for the keys. */
function originsIn(
  { model, models, context, context_sources, mcp_servers, retention, permissions, allow_project_hooks }: UserValues,
  file: string,
): Settings["origins"] {
  const set = {
    ...{ context, context_sources, mcp_servers, allow_project_hooks },
    default_model: model ?? models,
    retention: retention?.contentDays,
    strict: permissions?.strict,
  };
  return Object.fromEntries(Object.entries(set).flatMap(([key, value]) => (value === undefined ? [] : [[key, file]])));
}
