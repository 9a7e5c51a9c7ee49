/** Plans, todos and background commands as lines of the conversation. Whoever shows a line makes it visible. */
import { type EventOf, howItEnded, planLine, scheduleLine, todoLine } from "#protocol";

/** Of a list of todos; the others are counted. */
const SHOWN_TODOS = 8;
const COMMAND_CHARS = 100;
const MARKS = { pending: "[ ]", active: "[>]", done: "[x]" } as const;

type WorkEvent =
  | EventOf<"PlanChanged">
  | EventOf<"TodosChanged">
  | EventOf<"JobStarted">
  | EventOf<"JobKept">
  | EventOf<"JobEnded">
  | EventOf<"ScheduleChanged">;

export function workLines(event: WorkEvent): readonly string[] {
  switch (event.kind) {
    case "PlanChanged":
      return [planLine(event.payload.state)];
    case "TodosChanged":
      return todoLines(event);
    case "JobStarted": {
      const { job, command } = event.payload;
      return [`  & ${job} in the background: ${command.slice(0, COMMAND_CHARS)}`];
    }
    case "JobKept":
      return [`  & ${event.payload.job} goes on when nobody is attached`];
    case "ScheduleChanged":
      return [scheduleLine(event.payload)];
    case "JobEnded": {
      const { job, duration_ms, detail } = event.payload;
      const why = detail === undefined ? "" : ` (${detail})`;
      return [`  & ${job} ended after ${(duration_ms / 1000).toFixed(1)} s: ${howItEnded(event.payload)}${why}`];
    }
  }
}

/** What is done is counted; what is open is shown, the active one first in its place. */
function todoLines({ payload: { todos } }: EventOf<"TodosChanged">): readonly string[] {
  const head = todoLine(todos);
  if (head === undefined) return ["todo: none"];
  const open = todos.filter(({ state }) => state !== "done");
  const shown = open.slice(0, SHOWN_TODOS).map(({ text, state }) => `  ${MARKS[state]} ${text}`);
  const more = open.length > shown.length ? [`  … ${open.length - shown.length} more`] : [];
  return [head, ...shown, ...more];
}
