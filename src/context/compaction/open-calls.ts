/** Delegates that are still at work while their parent compacts: the call and its result, which names the task, stay word for word. */
import type { CallId, Event } from "#protocol";
import type { PinnedBlock } from "./kept.ts";

const MAX_TASK_CHARS = 500;

export interface OpenCalls {
  readonly onEvent: (event: Event) => void;
  pinned(): readonly PinnedBlock[];
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<CallId, { readonly agent: string; readonly task: string; result: string }>();
  return {
    onEvent(event) {
      if (event.kind === "DelegationStarted") {
        const { call_id, agent, task } = event.payload;
        open.set(call_id, { agent, task: task.slice(0, MAX_TASK_CHARS), result: "" });
      } else if (event.kind === "DelegationEnded") open.delete(event.payload.call_id);
      else if (event.kind === "ToolResult") {
        const call = open.get(event.payload.call_id);
        if (call === undefined) return;
        call.result = event.payload.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      }
    },
    pinned() {
      if (open.size === 0) return [];
      const text = [...open.values()].map(({ agent, task, result }) => `${agent || "delegate"}: ${task}\n${result}`);
      return [{ name: "delegates at work", text: text.join("\n\n"), from: "delegate" }];
    },
  };
}
