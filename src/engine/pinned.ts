/**
 * What every later request has to say, wherever it was said first: plan mode, the agreed plan, the todos. It is said once, where it
 * happened, so that what was sent before stays as it is. A compaction takes it into its event, and a limit of turns says it again.
 */
import type { ContextBlock, Event, EventPayload, TextBlock } from "#protocol";

type Pin = TextBlock | (TextBlock & Pick<ContextBlock, "from">);

export interface Pinned {
  /** Events of one session, oldest first. */
  apply(event: Event): void;
  /** Those that were said up to this event; by default all. */
  upTo(event?: number): readonly TextBlock[];
}

export function createPinned(): Pinned {
  const pins = new Map<"mode" | "plan" | "todos", { readonly event: number; readonly pin: Pin }>();
  return {
    apply(event) {
      const pin = pinOf(event);
      if (pin === undefined) return;
      pins.delete(pin.about);
      if (pin.says !== undefined) pins.set(pin.about, { event: event.id, pin: pin.says });
    },
    upTo(last = Number.POSITIVE_INFINITY) {
      return [...pins.values()].flatMap(({ event, pin }) => (event <= last ? [pin] : []));
    },
  };
}

/** Undefined for an event that pins nothing; `says` is absent where nothing is pinned any longer. */
function pinOf(event: Event): { readonly about: "mode" | "plan" | "todos"; readonly says?: Pin } | undefined {
  switch (event.kind) {
    case "PlanModeChanged":
      return { about: "mode", ...(event.payload.active && { says: text(PLAN_MODE_ON) }) };
    case "PlanChanged":
      if (event.payload.state === "proposed") return undefined;
      return { about: "plan", ...(event.payload.state === "agreed" && { says: text(agreedPlan(event.payload)) }) };
    case "TodosChanged": {
      const { todos } = event.payload;
      // Nobody has approved their words: they are shown as data.
      return {
        about: "todos",
        ...(todos.length > 0 && { says: { ...text(todoList(todos)), from: "the list of todos" } }),
      };
    }
    default:
      return undefined;
  }
}

/** What the model reads where the event happened; undefined where it knows already, from its own call. */
export function pinNote(event: Event): string | undefined {
  switch (event.kind) {
    case "PlanModeChanged":
      return event.payload.active ? PLAN_MODE_ON : PLAN_MODE_OFF;
    case "PlanChanged":
      if (event.payload.state === "agreed") return agreedPlan(event.payload);
      return event.payload.call_id === undefined ? CLOSED.get(event.payload.state) : undefined;
    case "TodosChanged":
      return event.payload.call_id === undefined ? "[harness: The user cleared the list of todos.]" : undefined;
    default:
      return undefined;
  }
}

const PLAN_MODE_ON =
  "[harness: Plan mode is on. Only calls that change nothing run, and shell commands only if they need no approval. Look around, ask what you need to know, then propose a plan with the tool plan, if you have it. Carry it out when the user has approved it.]";
const PLAN_MODE_OFF = "[harness: Plan mode is off. Calls that change things are judged as usual again.]";
const CLOSED: ReadonlyMap<string, string> = new Map([
  ["done", "[harness: The user says that the plan is done.]"],
  ["dropped", "[harness: The user dropped the plan. Do not carry it out any further.]"],
]);

function agreedPlan({ plan = "", edited }: EventPayload<"PlanChanged">): string {
  const how = edited === true ? "edited your plan and agreed to this text" : "agreed to this plan";
  return `[harness: The user ${how}. Carry it out; when all of it is done, call plan with done: true.]\n\n${plan}`;
}

function todoList(todos: EventPayload<"TodosChanged">["todos"]): string {
  return `Your todos now:\n${todos.map(({ text: what, state }) => `- [${state}] ${what}`).join("\n")}`;
}

function text(said: string): TextBlock {
  return { type: "text", text: said };
}
