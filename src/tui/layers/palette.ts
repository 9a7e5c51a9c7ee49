/** Everything that can be done, in one list: slash commands and actions with their keys. */
import { visibleLine } from "#base";
import { slashUsage, typedWord } from "#protocol";
import type { Effect } from "../effects.ts";
import { needsNothing } from "../input.ts";
import { keyName } from "../layer-rows.ts";
import { definePicker } from "../picker.ts";

interface Entry {
  readonly name: string;
  readonly about: string;
  readonly effects: readonly Effect[];
}

const NAME_COLUMNS = 34;

export const paletteLayer = definePicker<Entry>({
  name: "palette",
  title: "Commands",
  opener: { keys: ["ctrl+p"], help: "Find a command" },
  empty: "No commands.",
  load: () => ({ type: "load", name: "commands" }),
  items(loaded, { keymap }) {
    if (!("value" in loaded) || loaded.name !== "commands") return undefined;
    const openers = keymap.rows
      .filter(({ action, place }) => place === "input" && action.startsWith("open-") && action !== "open-palette")
      .map(({ action, keys: [key = ""], help }): Entry => {
        const layer = action.slice("open-".length);
        return { name: keyName(key) || layer, about: help, effects: [{ type: "open", layer }] };
      });
    const commands = loaded.value.map((command): Entry => {
      const line = `/${typedWord(command)}`;
      // What needs an argument is typed on.
      const effect: Effect = needsNothing(command)
        ? { type: "slash", text: line }
        : { type: "write", text: `${line} ` };
      return { name: slashUsage(command), about: command.description, effects: [effect] };
    });
    return [...commands, ...openers];
  },
  text: ({ name, about }) => `${name} ${about}`,
  rows: ({ name, about }, { columns, widgets, theme }) => {
    const shown = widgets.truncateToWidth(visibleLine(name), Math.min(NAME_COLUMNS, columns), "…");
    const gap = " ".repeat(Math.max(2, NAME_COLUMNS + 2 - widgets.visibleWidth(shown)));
    const row = `${shown}${gap}${theme.paint("dim", visibleLine(about))}`;
    return [widgets.truncateToWidth(row, columns, "…")];
  },
  onPick: ({ effects }) => effects,
});
