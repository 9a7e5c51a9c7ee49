/**
 * Delegates and background commands that are still at work while their session compacts: what they do, and the result of the call that
 * started them, which names the task or the job.
 */
import type { CallId, Event } from "#protocol";
import type { PinnedBlock } from "./kept.ts";

const MAX_TASK_CHARS = 500;

export interface OpenCalls {
  readonly onEvent: (event: Event) => void;
  pinned(): readonly PinnedBlock[];
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<CallId, { readonly work: string; result: string }>();
  const begin = (id: CallId, work: string): void =>
    void open.set(id, { work: work.slice(0, MAX_TASK_CHARS), result: "" });
  return {
    onEvent(event) {
      switch (event.kind) {
        case "DelegationStarted":
          begin(event.payload.call_id, `${event.payload.agent || "delegate"}: ${event.payload.task}`);
          break;
        case "JobStarted":
          begin(event.payload.call_id, `background command ${event.payload.job}: ${event.payload.command}`);
          break;
        case "DelegationEnded":
        case "JobEnded":
          open.delete(event.payload.call_id);
          break;
        case "ToolResult": {
          const call = open.get(event.payload.call_id);
          if (call === undefined) break;
          call.result = event.payload.content
            .flatMap((block) => (block.type === "text" ? [block.text] : []))
            .join("\n");
          break;
        }
        default:
      }
    },
    pinned() {
      if (open.size === 0) return [];
      const text = [...open.values()].map(({ work, result }) => `${work}\n${result}`).join("\n\n");
      return [{ text: `Still at work:\n\n${text}`, from: "open calls" }];
    },
  };
}
