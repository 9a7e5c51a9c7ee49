/** The final answer of a turn, gathered from its events: the text of the last response, tool calls aside. */
import type { Event } from "./envelope.ts";

export interface AnswerCollector {
  add(event: Event): void;
  /** The text of the last step of the last turn. */
  text(): string;
}

export function createAnswerCollector(): AnswerCollector {
  let step = 0;
  let parts: string[] = [];
  function restart(at: number): void {
    step = at;
    parts = [];
  }
  return {
    add(event) {
      if (event.kind === "TurnStarted") restart(0);
      else if (event.kind === "TextDelta") {
        if (event.payload.step !== step) restart(event.payload.step);
        parts.push(event.payload.text);
      } else if (event.kind === "Error" && !event.payload.terminal && event.payload.step !== undefined) {
        restart(event.payload.step);
      } else if (event.kind === "ToolCallStarted" && event.payload.step >= step) restart(event.payload.step + 1);
    },
    text: () => parts.join(""),
  };
}
