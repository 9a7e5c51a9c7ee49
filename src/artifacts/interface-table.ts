/** `[interface]` and `[keys]` in `config.toml`: how the terminal interface looks and types, and what its keys do. */
import { byName, choice, defineTable, type FieldType, field, flag, list, nested, textThat } from "./schema.ts";
import { defaultSettings, type Settings } from "./settings.ts";

const MAX_KEYS = 8;
const KEY = /^(?:(?:shift|ctrl|alt|super)\+)*(?:[!-~]|[a-zA-Z][a-zA-Z0-9]+)$/;
const ACTION = /^[a-z][a-z0-9-]*$/;

const interfaceTable = defineTable(
  "Interface",
  "How the [terminal interface](../guide/terminal.md) looks, and how you type in it.",
).of({
  theme: field(
    choice("auto", "dark", "light", "high-contrast", "none"),
    `\`"${defaultSettings.interface.theme}"\``,
  ).means(
    "`auto`: `dark` or `light`, as the background of the terminal. `none`: no colours, as with the variable `NO_COLOR`.",
  ),
  vim: field(flag, `\`${defaultSettings.interface.vim}\``).means(
    "Vim keys in the input: Esc for the normal mode, `i` to type.",
  ),
  plain: field(flag, "`false`").means("Use the line interface, as `--plain` does. It suits screen readers."),
  quiet_cost: field(flag, "`false`").means("Show no cost in the status line, as `--quiet-cost` does."),
});

export const interfaceType: FieldType<Settings["interface"]> = nested(interfaceTable, ({ values }) => ({
  theme: values.theme ?? defaultSettings.interface.theme,
  vim: values.vim ?? defaultSettings.interface.vim,
  isPlain: values.plain ?? defaultSettings.interface.isPlain,
  isCostShown: values.quiet_cost === undefined ? defaultSettings.interface.isCostShown : !values.quiet_cost,
}));

/** Which actions there are is known to the interface alone: it reports a name that it does not know. */
export const keysType: FieldType<Settings["keys"]> = byName(
  list(
    textThat("key such as `ctrl+r`", (key) => KEY.test(key)),
    { max: MAX_KEYS },
  ),
  "action",
  (name) => ACTION.test(name),
);
