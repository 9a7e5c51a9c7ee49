/** The background commands of the session, newest first, each with what it printed last. One key stops the selected one. */
import { visibleLine, visibleLines } from "#base";
import { wrapped } from "../block-rows.ts";
import type { LayerContext } from "../layer.ts";
import { namedRow } from "../list-row.ts";
import type { Loaded } from "../loads.ts";
import { definePicker } from "../picker.ts";
import type { SessionFacts } from "../session-status.ts";

type Row = SessionFacts["jobs"][number];

const COMMAND_COLUMNS = 40;
/** Of the output, its last rows: what fits is shown. */
const MAX_LINES = 500;

export const jobsLayer = definePicker<Row>({
  name: "jobs",
  title: "Background commands · Ctrl-X stops",
  opener: { keys: ["alt+j"], help: "Show the background commands, and stop them" },
  words: ["jobs"],
  keys: [{ action: "jobs-stop", keys: ["ctrl+x"], help: "Stop the background command" }],
  empty: "No background commands.",
  load: () => ({ type: "load", name: "facts" }),
  items: (loaded) => ("value" in loaded && loaded.name === "facts" ? loaded.value.jobs.toReversed() : undefined),
  text: ({ job, command }) => `${command} ${job}`,
  rows: ({ command, ended, kept }, style) =>
    namedRow(command, `${ended ?? "running"}${kept ? " · kept" : ""}`, COMMAND_COLUMNS, style),
  previewLoad: ({ job }) => ({ type: "load", name: "job-output", argument: job }),
  preview: (item, context, loaded) => [...factRows(item, context), "", ...outputRows(context, loaded)],
  onPick: ({ job }) => [{ type: "slash", text: `/jobs:output ${job}` }],
  onAction: (_action, item) =>
    item === undefined || item.ended !== undefined
      ? undefined
      : { isClosed: true, effects: [{ type: "slash", text: `/jobs:stop ${item.job}` }] },
});

function factRows({ command, job, started_at, ended }: Row, { style }: LayerContext): readonly string[] {
  const { theme, columns, widgets } = style;
  const since = `${job} · began ${started_at.slice(0, 19).replace("T", " ")} · ${ended ?? "running"}`;
  return [
    ...wrapped(visibleLine(command), columns, widgets),
    ...wrapped(visibleLine(since), columns, widgets).map((row) => theme.paint("dim", row)),
  ];
}

function outputRows({ style, rows: room }: LayerContext, loaded: Loaded | undefined): readonly string[] {
  const { theme, columns, widgets } = style;
  if (loaded === undefined) return [theme.paint("dim", "Loading …")];
  const text = loaded.type === "not-loaded" ? loaded.text : loaded.name === "job-output" ? loaded.value : "";
  const lines = visibleLines(text).trimEnd().split("\n").slice(-MAX_LINES);
  return lines.flatMap((line) => wrapped(line, columns, widgets)).slice(-Math.max(1, Math.floor(room / 2)));
}
