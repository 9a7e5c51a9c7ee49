/** `[plugins.NAME]` of `config.toml`: code that this program loads into its own process, pinned by the hash of its file. */
import { dirname, resolve } from "node:path";
import { defined } from "#base";
import { byName, defineTable, type FieldType, nested, placed, textThat, words } from "./schema.ts";
import type { PluginPin } from "./settings.ts";

const NAME = /^[a-z][a-z0-9-]{0,62}$/;

const pluginTable = defineTable({
  title: "Plugin",
  about:
    "Code that Harness loads into its own process: [plugins](../guide/plugins.md). The name of the table is the name that the plugin gives itself: `[plugins.release-freeze]`. Only this file names plugins: no project, flag or variable does.",
  fields: {
    path: {
      type: placed(words("path of a file")),
      required: true,
      meaning: "One JavaScript module: an absolute path, or one relative to the folder of this file.",
    },
    sha256: {
      type: textThat("64 hexadecimal digits", (text) => /^[0-9a-f]{64}$/i.test(text)),
      meaning:
        "SHA-256 of that file. Without it, or when the file is another one, Harness does not start and prints the hash of the file that is there.",
    },
  },
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

export const pluginsType = byName(plugin, "name of small letters, digits and `-`", (name) => NAME.test(name));
