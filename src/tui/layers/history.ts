/** Search in earlier inputs of this project. The one that is chosen replaces what is typed, and is not sent. */
import { visibleLine } from "#base";
import { definePicker } from "../picker.ts";

interface Entry {
  readonly input: string;
}

export const historyLayer = definePicker<Entry>({
  name: "history",
  title: "Earlier inputs",
  opener: { keys: ["ctrl+r"], help: "Search earlier inputs" },
  empty: "No earlier inputs in this project.",
  load: () => ({ type: "load", name: "history" }),
  items: (loaded) =>
    "value" in loaded && loaded.name === "history" ? loaded.value.map((input) => ({ input })) : undefined,
  text: ({ input }) => input,
  rows: ({ input }, { columns, widgets }) => [widgets.truncateToWidth(visibleLine(input), columns, "…")],
  onPick: ({ input }) => [{ type: "write", text: input }],
});
