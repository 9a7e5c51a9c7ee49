/** The schedules of the user, each with what became of its last runs. One key runs one now, another one removes it once it is pressed twice. */
import { visibleLine } from "#base";
import { type ReplyOf, SessionId } from "#protocol";
import { wrapped } from "../block-rows.ts";
import type { LayerContext } from "../layer.ts";
import { namedRow } from "../list-row.ts";
import { definePicker } from "../picker.ts";

type Row = ReplyOf<"ListSchedules">["result"][number];

const NAME_COLUMNS = 24;

export const schedulesLayer = definePicker<Row>({
  name: "schedules",
  title: "Schedules · Ctrl-R runs now · Ctrl-X removes",
  opener: { keys: [], help: "Show the schedules, run and remove them" },
  words: ["schedule"],
  keys: [
    { action: "schedules-run", keys: ["ctrl+r"], help: "Run the schedule now" },
    { action: "schedules-remove", keys: ["ctrl+x"], help: "Remove the schedule; press twice" },
  ],
  empty: "No schedules. /schedule add NAME 6h PROMPT adds one.",
  load: () => ({ type: "load", name: "schedules" }),
  items: (loaded) => ("value" in loaded && loaded.name === "schedules" ? loaded.value : undefined),
  text: ({ name, folder, times }) => `${name} ${folder} ${times}`,
  rows({ name, times, next_at, problem, ticks: [last] }, style) {
    const next = next_at === undefined ? "no further run" : `next ${minute(next_at)}`;
    const about = [problem === undefined ? next : "does not run", times, ...(last === undefined ? [] : [last.state])];
    return namedRow(name, about.join(" · "), NAME_COLUMNS, style);
  },
  preview: (item, context) => [...factRows(item, context), "", ...tickRows(item, context)],
  /** The session of the last run that has one. */
  onPick({ ticks }, { state }) {
    const last = ticks.find(({ session }) => session !== undefined)?.session ?? "";
    return SessionId.is(last) && last !== state.transcript.session ? [{ type: "switch", session: last }] : [];
  },
  confirm: (action, { name }) =>
    action === "schedules-remove" ? `Removes ${visibleLine(name)}. Press the key again to confirm.` : undefined,
  onAction(action, item) {
    if (item === undefined) return undefined;
    const { name } = item;
    const kind = action === "schedules-run" ? "RunSchedule" : "RemoveSchedule";
    return { isClosed: true, effects: [{ type: "submit", command: { kind, name } }] };
  },
});

function minute(at: string): string {
  return at.slice(0, 16).replace("T", " ");
}

function factRows(row: Row, { style }: LayerContext): readonly string[] {
  const { folder, model, profile, plan, max_cost_usd: cost, max_steps: steps, problem, waits_until, totals } = row;
  const limits = [
    ...(model === undefined ? [] : [model]),
    ...(profile === undefined ? [] : [`profile ${profile}`]),
    ...(plan === undefined ? [] : ["in plan mode"]),
    ...(cost === undefined ? [] : [`at most $${cost}`]),
    ...(steps === undefined ? [] : [`at most ${steps} steps`]),
  ];
  const { theme, columns, widgets } = style;
  const lines = [
    folder,
    ...(limits.length === 0 ? [] : [limits.join(" · ")]),
    ...(waits_until === undefined ? [] : [`waits until ${minute(waits_until)}: the clock was set back`]),
    `${totals.claimed} runs, ${totals.missed} missed, ${totals.lost} lost`,
  ];
  const shown = lines.flatMap((line) => wrapped(visibleLine(line), columns, widgets));
  const trouble = problem === undefined ? [] : wrapped(visibleLine(problem), columns, widgets);
  return [...trouble.map((one) => theme.paint("bad", one)), ...shown.map((one) => theme.paint("dim", one))];
}

function tickRows({ ticks }: Row, { style }: LayerContext): readonly string[] {
  const { theme, columns, widgets } = style;
  return ticks.flatMap(({ at, state, manual, count, message }) => {
    const what = `${minute(at)}  ${state}${count === undefined ? "" : ` ${count}`}${manual === true ? " (by hand)" : ""}`;
    const role = state === "done" ? "good" : state === "running" || state === "claimed" ? "accent" : "warn";
    const why = message === undefined ? [] : wrapped(`  ${visibleLine(message)}`, columns, widgets);
    return [theme.paint(role, widgets.truncateToWidth(what, columns)), ...why.map((row) => theme.paint("dim", row))];
  });
}
