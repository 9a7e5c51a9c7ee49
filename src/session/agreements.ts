/** What a person and the agent have agreed on: the mode of the session, its plan, its todos. Each change is on the record before it holds. */
import { createSerial, defined } from "#base";
import type { SessionAgreements } from "#control";
import type { EventBus, Lasting, Tool } from "#engine";
import { type CallId, type ClientId, type Mode, ReasonError } from "#protocol";
import { createPlanTool, createTodosTool } from "#tools";

/** Of the whole tree: what it holds back for the root, it holds back for delegates. */
export interface SessionMode {
  plan: boolean;
  base: Lasting["base"];
  /** The delegates that are told when plan mode changes. */
  readonly delegates: Set<Pick<EventBus, "publish">>;
}

export interface Agreements extends SessionAgreements {
  clearTodos(): Promise<void>;
  /** For the agent of the root. */
  readonly tools: readonly Tool[];
}

export function modeOf({ plan, base }: Pick<SessionMode, "plan" | "base">): Mode {
  return plan ? "plan" : base;
}

export function createAgreements({
  bus,
  mode,
  lasting,
}: {
  readonly bus: Pick<EventBus, "publish">;
  readonly mode: SessionMode;
  readonly lasting: () => Lasting;
}): Agreements {
  // In order: whoever finds it done already is told so when the log has it.
  const inOrder = createSerial();

  async function change(next: Mode, by?: ClientId): Promise<void> {
    const previous = modeOf(mode);
    if (previous === next) return;
    const { plan, base } = mode;
    const active = next === "plan";
    // What holds calls back does so from now on, and lets them through when that is on the record.
    if (active) mode.plan = true;
    else if (next === "ask") mode.base = "ask";
    try {
      const toggled = active === plan ? [] : [bus.publish("PlanModeChanged", { active })];
      await Promise.all([...toggled, bus.publish("ModeChanged", { mode: next, previous, ...defined({ by }) })]);
      mode.plan = active;
      if (!active) mode.base = next;
      if (toggled.length > 0) await tellDelegates(mode);
    } catch (error) {
      Object.assign(mode, { plan, base });
      throw error;
    }
  }

  /** A plan that is agreed is on the record before calls are let through. */
  async function agree(plan: string, edited: boolean, from: { call_id?: CallId; by?: ClientId }): Promise<void> {
    await bus.publish("PlanChanged", { state: "agreed", plan, ...(edited && { edited }), ...from });
    await change(mode.base, from.by);
  }

  const planTool = createPlanTool({
    propose: (call_id, plan) => inOrder(() => bus.publish("PlanChanged", { state: "proposed", plan, call_id })),
    agree: (call_id, plan, edited) => inOrder(() => agree(plan, edited, { call_id })),
    done: (call_id) =>
      inOrder(async () => {
        if (lasting().agreed === undefined) return false;
        await bus.publish("PlanChanged", { state: "done", call_id });
        return true;
      }),
  });
  const todosTool = createTodosTool(({ turn, callId: call_id }, todos) =>
    bus.publish("TodosChanged", { turn, call_id, todos: [...todos] }),
  );

  return {
    tools: [planTool, todosTool],
    setMode: (next, by) => inOrder(() => change(next, by)),
    approve: (edited, by) =>
      inOrder(async () => {
        const proposed = lasting().proposed?.plan;
        const plan = edited ?? proposed;
        if (plan === undefined) await change(mode.base, by);
        else await agree(plan, proposed !== undefined && plan !== proposed, { by });
      }),
    closePlan: (state, by) =>
      inOrder(async () => {
        const { agreed, proposed } = lasting();
        if (agreed === undefined && proposed === undefined) throw new ReasonError("NotAllowed", "There is no plan.");
        await bus.publish("PlanChanged", { state, by });
      }),
    async clearTodos() {
      if (lasting().todos.length > 0) await bus.publish("TodosChanged", { todos: [] });
    },
  };
}

/** The conversation of a delegate does not see the events of its root. */
async function tellDelegates({ plan: active, delegates }: SessionMode): Promise<void> {
  await Promise.all([...delegates].map((bus) => bus.publish("PlanModeChanged", { active })));
}
