/** The turns of the session: the conversation continues in a copy up to the end of the chosen one. */
import { namedRow } from "../list-row.ts";
import type { TurnRow } from "../loads.ts";
import { definePicker } from "../picker.ts";

const INPUT_COLUMNS = 80;

export const branchLayer = definePicker<TurnRow>({
  name: "branch",
  title: "Branch after a turn",
  opener: { keys: ["alt+n"], help: "Continue in a branch of this session, after a turn that you choose" },
  words: ["branch", "sessions:branch"],
  empty: "No turn has ended yet.",
  load: () => ({ type: "load", name: "turns" }),
  items: (loaded) => ("value" in loaded && loaded.name === "turns" ? loaded.value.toReversed() : undefined),
  text: ({ input, number }) => `${number} ${input}`,
  rows: ({ number, input, outcome, ts }, style) =>
    namedRow(`${number}. ${input}`, `${outcome} · ${ts.slice(0, 16).replace("T", " ")}`, INPUT_COLUMNS, style),
  onPick: ({ number }, { state }) => [
    { type: "slash", text: `/sessions:branch ${state.transcript.session} at ${number}` },
  ],
});
