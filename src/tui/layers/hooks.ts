/** The shell hooks in force: their events, commands and where they are written. */
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";
import type { SessionFacts } from "../session-status.ts";

const COMMAND_COLUMNS = 60;

export const hooksLayer = definePicker<SessionFacts["hooks"][number]>({
  name: "hooks",
  title: "Shell hooks",
  opener: { keys: [], help: "Show the shell hooks" },
  words: ["hooks"],
  empty: "No shell hooks are in force.",
  load: () => ({ type: "load", name: "facts" }),
  items: (loaded) => ("value" in loaded && loaded.name === "facts" ? loaded.value.hooks : undefined),
  text: ({ event, command, source }) => `${event} ${command} ${source}`,
  rows: ({ event, command, source }, style) => namedRow(`${event}  ${command}`, source, COMMAND_COLUMNS, style),
  onPick: () => [],
});
