/** `[plugins.NAME]` of `config.toml`: code that this program loads into its own process, pinned by the hash of its file. */
import { dirname, resolve } from "node:path";
import { defined } from "#base";
import { byName, defineTable, type FieldType, field, nested, placed, required, textThat, words } from "./schema.ts";
import type { PluginPin } from "./settings.ts";

const NAME = /^[a-z][a-z0-9-]{0,62}$/;

const pluginTable = defineTable(
  "Plugin",
  "Code that Harness loads into its own process: see [plugins](../guide/plugins.md). The name of the table must be the name that the plugin declares, for example `[plugins.release-freeze]`. Plugins come from this file only; a project, a flag or an environment variable cannot add one.",
).of({
  path: required(placed(words("path of a file"))).means(
    "The JavaScript module. A relative path starts at the folder of this file.",
  ),
  sha256: field(textThat("64 hexadecimal digits", (text) => /^[0-9a-f]{64}$/i.test(text))).means(
    "The SHA-256 hash of the module. If it is missing or does not match, Harness does not start and prints the actual hash.",
  ),
});

const plugin: FieldType<PluginPin> = nested(pluginTable, ({ values: { path, sha256 } }) => {
  if (path === undefined) return undefined;
  const { file, line } = path.place;
  return {
    path: resolve(dirname(file), path.value),
    place: `${file}:${line}`,
    ...defined({ sha256: sha256?.toLowerCase() }),
  };
});

export const pluginsType = byName(plugin, "name (lower-case letters, digits and `-`)", (name) => NAME.test(name));
