/** The scripted agent of a session with hundreds of tasks: what the mock vendor answers, and what it saw in the requests. */
import type { MockBlock, MockReply } from "./mock-reply.ts";

/** Undefined: there is nothing to do in this step. */
export type AgentStep = (request: string) => readonly [tool: string, args: object] | undefined;

export interface LongWorkAgent {
  answer(body: unknown): MockReply;
  /** The steps of the next task; those of an earlier one are dropped. */
  begin(task: string, steps: readonly AgentStep[]): void;
  /** What every request of the session has to say from now on; undefined: nothing. */
  expectPinned(text: string | undefined): void;
  readonly requests: number;
  readonly summaries: number;
  /** Of the sessions of schedules. */
  readonly scheduled: number;
  readonly unpinned: readonly string[];
}

/** In the prompts of schedules, and nowhere else. */
export const SCHEDULED = "SCHEDULED";

export function createLongWorkAgent(): LongWorkAgent {
  let [task, steps]: [string, AgentStep[]] = ["", []];
  let pinned: string | undefined;
  let [requests, summaries, scheduled] = [0, 0, 0];
  const unpinned: string[] = [];

  return {
    begin(name, wanted) {
      task = name;
      steps = [...wanted];
    },
    expectPinned(text) {
      pinned = text;
    },
    answer(body) {
      const { tools = [], messages } = body as { tools?: readonly unknown[]; messages: readonly unknown[] };
      if (tools.length === 0) {
        summaries += 1;
        return message({ type: "text", text: `The agent has worked on its tasks. Summary ${summaries}.` });
      }
      const request = JSON.stringify(messages);
      if (request.includes(SCHEDULED)) {
        scheduled += 1;
        return message({ type: "text", text: "Looked, and all is well." });
      }
      requests += 1;
      if (pinned !== undefined && !request.includes(pinned))
        unpinned.push(`${task}: '${pinned}' is not in the request`);
      while (steps.length > 0) {
        const call = steps.shift()?.(request);
        if (call !== undefined)
          return message({ type: "tool_call", name: call[0], arguments: JSON.stringify(call[1]) });
      }
      return message({ type: "text", text: `${task} is done.` });
    },
    get requests() {
      return requests;
    },
    get summaries() {
      return summaries;
    },
    get scheduled() {
      return scheduled;
    },
    unpinned,
  };
}

function message(...blocks: readonly MockBlock[]): MockReply {
  return { type: "message", blocks };
}
