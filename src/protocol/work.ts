/** Modes of a session, the list of todos and the state of a plan, with their bounds. Free of zod: the engine and browsers use it. */
import type { EventPayload } from "./events.ts";
import type { CallId } from "./ids.ts";

/** `auto` is none of them: only `--auto-approve` gives that. */
export const MODES = ["ask", "plan", "accept-edits"] as const;
export type Mode = (typeof MODES)[number];

/** About ten pages. */
export const PLAN_MAX_CHARS = 32_000;
/** Begins the answer that rejects a plan: whatever follows approves nothing. */
export const PLAN_REJECTION = "No: ";

export const TODO_STATES = ["pending", "active", "done"] as const;
export const TODOS_MAX = 50;
export const TODO_MAX_CHARS = 200;

export interface Todo {
  readonly text: string;
  readonly state: (typeof TODO_STATES)[number];
}

/** The plan of a session as clients see it. */
export interface PlanState {
  readonly state: "proposed" | "agreed";
  readonly plan: string;
  /** Of a proposed plan: the call that asks. */
  readonly call?: CallId;
}

/** `todo 2/5  run the tests`: what a status line has room for. Undefined where there is none. */
export function todoLine(todos: readonly Todo[]): string | undefined {
  if (todos.length === 0) return undefined;
  const done = todos.filter(({ state }) => state === "done").length;
  const now = todos.find(({ state }) => state === "active") ?? todos.find(({ state }) => state === "pending");
  return `todo ${done}/${todos.length}${now === undefined ? "" : `  ${now.text}`}`;
}

/** What became of a plan, for people. */
export function planLine(state: EventPayload<"PlanChanged">["state"]): string {
  switch (state) {
    case "proposed":
      return "The plan waits for you: /plan show shows it, /plan approve approves it.";
    case "agreed":
      return "The plan is agreed; /plan show shows it.";
    case "done":
      return "The plan is done.";
    case "dropped":
      return "The plan was dropped.";
  }
}

/** `exit code 1`, `ended by SIGTERM`: for the model and for people. */
export function howItEnded({
  status,
  exit_code,
  signal,
}: Pick<EventPayload<"JobEnded">, "status" | "exit_code" | "signal">): string {
  switch (status) {
    case "exited":
      return signal === undefined ? `exit code ${exit_code ?? 0}` : `ended by ${signal}`;
    case "timeout":
      return "its time was over";
    case "output":
      return "it printed too much";
    case "stopped":
      return "stopped";
    case "failed":
      return "it could not run";
    case "lost":
      return "interrupted when the program stopped";
  }
}

/** What a person did with a schedule, for people. */
export function scheduleLine({ name, change, next_at }: EventPayload<"ScheduleChanged">): string {
  switch (change) {
    case "added":
      return `schedule ${name} added, next at ${next_at ?? "no time"}`;
    case "removed":
      return `schedule ${name} removed`;
    case "run":
      return `schedule ${name} runs now; /schedule shows what became of it`;
  }
}
