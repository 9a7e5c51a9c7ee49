/**
 * What of a session still applies however long ago it was said: its mode, the plan, the todos and the background commands that run.
 * A fold over events; the ids of the events that say so are enough to rebuild it.
 */
import type { Event, EventPayload, JobId, Mode, PlanState, Todo } from "#protocol";

export interface Lasting {
  /** Events of one session, oldest first. */
  apply(event: Event): void;
  readonly planMode: boolean;
  /** The mode outside of plan mode. */
  readonly base: Exclude<Mode, "plan">;
  readonly todos: readonly Todo[];
  /** In every request until it is done or dropped. */
  readonly agreed: string | undefined;
  /** Waits for a person, also when nobody could be asked. */
  readonly proposed: (PlanState & { readonly state: "proposed" }) | undefined;
  /** Background commands of which no end is known, oldest first. */
  readonly jobs: readonly EventPayload<"JobStarted">[];
  /** The events that say all this, oldest first. */
  readonly ids: readonly number[];
}

export function createLasting(): Lasting {
  /** The event of each thing that applies, by what it is about. */
  const held = new Map<string, number>();
  const jobs = new Map<JobId, EventPayload<"JobStarted">>();
  let base: Lasting["base"] = "ask";
  let todos: readonly Todo[] = [];
  let agreed: string | undefined;
  let proposed: Lasting["proposed"];

  function hold(what: string, event: Event, applies: boolean): void {
    if (applies) held.set(what, event.id);
    else held.delete(what);
  }

  function propose(event: Event, next: Lasting["proposed"]): void {
    proposed = next;
    hold("proposed", event, next !== undefined);
  }

  return {
    apply(event) {
      switch (event.kind) {
        case "PlanModeChanged":
          hold("plan mode", event, event.payload.active);
          break;
        case "ModeChanged":
          if (event.payload.mode === "plan") break;
          base = event.payload.mode;
          hold("mode", event, base !== "ask");
          break;
        case "QuestionAsked": {
          const { plan, call_id: call } = event.payload;
          if (plan !== undefined) propose(event, { state: "proposed", plan, call });
          break;
        }
        case "QuestionAnswered":
          if (proposed?.call === event.payload.call_id) propose(event, undefined);
          break;
        case "PlanChanged": {
          const { state, plan, call_id: call } = event.payload;
          if (state === "proposed" && plan !== undefined) {
            propose(event, { state, plan, ...(call !== undefined && { call }) });
            break;
          }
          propose(event, undefined);
          agreed = state === "agreed" ? plan : undefined;
          hold("plan", event, agreed !== undefined);
          break;
        }
        case "TodosChanged":
          todos = event.payload.todos;
          hold("todos", event, todos.length > 0);
          break;
        case "JobStarted":
          jobs.set(event.payload.job, event.payload);
          hold(event.payload.job, event, true);
          break;
        case "JobEnded":
          jobs.delete(event.payload.job);
          hold(event.payload.job, event, false);
          break;
        default:
      }
    },
    get planMode() {
      return held.has("plan mode");
    },
    get base() {
      return base;
    },
    get todos() {
      return todos;
    },
    get agreed() {
      return agreed;
    },
    get proposed() {
      return proposed;
    },
    get jobs() {
      return [...jobs.values()];
    },
    get ids() {
      return [...held.values()].sort((a, b) => a - b);
    },
  };
}
