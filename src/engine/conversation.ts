/**
 * The conversation as a fold over events: what the model is shown is exactly what the log says, live and after a resume.
 * Messages already made are never edited; compaction replaces a prefix by its summary.
 */
import type { Event, EventPayload, Message, ThinkingBlock, ToolResultBlock, ToolUseBlock } from "#protocol";

type AssistantBlock = { type: "text"; text: string } | ThinkingBlock | ToolUseBlock;

export interface Conversation {
  apply(event: Event): void;
  /** Called between steps. Legal for every provider: each tool call is followed by its result, none is empty. */
  messages(): readonly Message[];
}

/** One model response being assembled, with the results of its calls. */
interface OpenStep {
  readonly step: number;
  readonly blocks: Map<number, AssistantBlock>;
  readonly results: Map<string, ToolResultBlock>;
}

/** Stands in for a result that never came: the turn was cancelled or the process died. */
const MISSING_RESULT = "No result: the call did not finish.";

export function createConversation(): Conversation {
  /** Finished messages, each with the id of the event that completed it. */
  let finished: { message: Message; lastEventId: number }[] = [];
  let open: OpenStep | undefined;
  let lastEventId = 0;

  /** Moves a response and the results of its calls to the finished messages. */
  function closeStep(): void {
    if (open === undefined) return;
    const { blocks, results } = open;
    open = undefined;
    const content = [...blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
    if (content.length === 0) return;
    finished.push({ message: { role: "assistant", content }, lastEventId });
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return;
    const answers = calls.map((call) => results.get(call.id) ?? missingResult(call));
    finished.push({ message: { role: "user", content: answers }, lastEventId });
  }

  function stepOf(step: number): OpenStep {
    if (open !== undefined && open.step !== step) closeStep();
    open ??= { step, blocks: new Map(), results: new Map() };
    return open;
  }

  return {
    apply(event) {
      lastEventId = event.id;
      switch (event.kind) {
        case "TurnStarted":
          closeStep();
          finished.push({ message: { role: "user", content: event.payload.content }, lastEventId });
          break;
        case "TextDelta":
          appendText(stepOf(event.payload.step), event.payload);
          break;
        case "ThinkingDelta": {
          const { step, block, provider, data } = event.payload;
          if (data !== undefined) stepOf(step).blocks.set(block, { type: "thinking", provider, data });
          break;
        }
        case "ToolCallStarted": {
          const { step, block, call_id, name, args } = event.payload;
          stepOf(step).blocks.set(block, { type: "tool_use", id: call_id, name, input: asInput(args) });
          break;
        }
        case "ToolResult": {
          const { step, call_id, content, is_error } = event.payload;
          stepOf(step).results.set(call_id, { type: "tool_result", tool_use_id: call_id, content, is_error });
          break;
        }
        case "Error":
          if (!event.payload.terminal && event.payload.step !== undefined) open = undefined;
          break;
        case "TurnEnded":
          closeStep();
          break;
        case "CompactionTriggered": {
          const { boundary, summary } = event.payload;
          const kept = finished.filter((entry) => entry.lastEventId > boundary);
          const message: Message = { role: "user", content: [{ type: "text", text: summary }] };
          finished = [{ message, lastEventId: boundary }, ...kept];
          break;
        }
        default:
      }
    },
    messages() {
      closeStep();
      return finished.map((entry) => entry.message);
    },
  };
}

function appendText(step: OpenStep, { block, text }: EventPayload<"TextDelta">): void {
  const existing = step.blocks.get(block);
  if (existing?.type === "text") existing.text += text;
  else if (text !== "") step.blocks.set(block, { type: "text", text });
}

/** Providers want an object; what was not one is kept where the model can see its mistake. */
function asInput(args: unknown): unknown {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return isObject ? args : { invalid_arguments: args };
}

function missingResult(call: ToolUseBlock): ToolResultBlock {
  return {
    type: "tool_result",
    tool_use_id: call.id,
    content: [{ type: "text", text: MISSING_RESULT }],
    is_error: true,
  };
}
