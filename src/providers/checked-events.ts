/** What readers take from a vendor's stream has the types that the log and later requests rely on: on the wire, any field can hold anything. */
import type { ModelEvent } from "#engine";

/** Throws on an event that is not of its type, which ends the call as garbled. */
export function checkedEmit(emit: (event: ModelEvent) => void): (event: ModelEvent) => void {
  return (event) => {
    if ("block" in event && !(Number.isSafeInteger(event.block) && event.block >= 0))
      throw new TypeError("a block number");
    for (const value of wordsOf(event)) {
      if (typeof value !== "string") throw new TypeError(`${event.type} that is not text`);
    }
    emit(event);
  };
}

/** A number of tokens or of dollars; undefined for what is none. */
export function countIn(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function wordsOf(event: ModelEvent): readonly unknown[] {
  switch (event.type) {
    case "text":
    case "thinking":
      return [event.text];
    case "tool_call":
      return [event.name, event.arguments];
    case "yield":
      return event.reason === undefined ? [] : [event.reason];
    default:
      return [];
  }
}
