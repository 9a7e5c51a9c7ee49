/** Values that conditions and scripts see as `ctx`: what kind of run this is (`mode`, `env`), set from outside. */
import { createSerial } from "#base";
import type { CommandOf } from "#protocol";
import type { EventBus } from "./bus.ts";

type ContextValues = CommandOf<"SetContext">["values"];

export interface RunContext {
  /** All of them; a new object after each change. */
  values(): Readonly<ContextValues>;
  /** On the record before they count; null removes one. */
  set(bus: Pick<EventBus, "publish">, values: ContextValues): Promise<void>;
}

/** They belong to the run: a session that is opened again begins with what it is given then. */
export function createRunContext(initial: Readonly<ContextValues>): RunContext {
  const inOrder = createSerial();
  let current = merged({}, initial);
  return {
    values: () => current,
    // In order: each change is made to what the one before has left.
    set: (bus, values) =>
      inOrder(async () => {
        const next = merged(current, values);
        await bus.publish("ContextSet", { values: next });
        current = next;
      }),
  };
}

function merged(base: Readonly<ContextValues>, change: Readonly<ContextValues>): ContextValues {
  return Object.fromEntries(Object.entries({ ...base, ...change }).filter(([, value]) => value !== null));
}
