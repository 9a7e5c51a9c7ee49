/** The themes. The chosen one holds until the interface ends; `config.toml` keeps one. */
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";
import { type ThemeName, themes } from "../theme.ts";

interface Row {
  readonly name: ThemeName;
}

const NAME_COLUMNS = 20;

const ABOUT: Readonly<Record<ThemeName, string>> = {
  dark: "for a dark background",
  light: "for a light background",
  "high-contrast": "bright colours, nothing dimmed",
  none: "no colours",
};

export const themeLayer = definePicker<Row>({
  name: "theme",
  title: "Themes",
  opener: { keys: ["alt+t"], help: "Use another theme" },
  words: ["theme"],
  empty: "No themes.",
  // Nothing has to be asked for, but a picker shows what has come.
  load: () => ({ type: "load", name: "history" }),
  items: (loaded) => ("value" in loaded ? Object.values(themes).map(({ name }) => ({ name })) : undefined),
  text: ({ name }) => name,
  rows: ({ name }, style) => namedRow(name, ABOUT[name], NAME_COLUMNS, style),
  onPick: ({ name }) => [{ type: "theme", name }],
});
