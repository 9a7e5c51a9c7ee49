/** Canonical events as whole blocks for an embedding program: a text when it is complete, calls and results in order. */
import type { Event, EventPayload, ToolOutputBlock } from "#protocol";

/** A call that waits for an answer: what it is, and why it asks. */
export type PermissionQuestion = EventPayload<"PermissionRequested">;

/** Called in order, synchronously. After one has thrown, none is called for the rest of the turn. */
export interface EventHandler {
  onText?(text: string): void;
  onToolCall?(id: string, name: string, input: unknown): void;
  onToolResult?(id: string, result: string, isError: boolean): void;
  /** A call that no rule allows waits for this: true lets it run once, anything else denies it. Default: it is denied at once. */
  onPermission?(question: PermissionQuestion): boolean | Promise<boolean>;
  /** Every canonical event, after it is durable. */
  onEvent?(event: Event): void;
}

export interface BlockHandler {
  handle(event: Event): void;
}

export function createBlockHandler(handler: EventHandler): BlockHandler {
  let open: { step: number; block: number; text: string } | undefined;

  function closeText(): void {
    if (open === undefined) return;
    const { text } = open;
    open = undefined;
    handler.onText?.(text);
  }

  return {
    handle(event) {
      handler.onEvent?.(event);
      switch (event.kind) {
        case "TurnStarted":
          open = undefined;
          break;
        case "TextDelta": {
          const { step, block, text } = event.payload;
          if (open !== undefined && (open.step !== step || open.block !== block)) closeText();
          open ??= { step, block, text: "" };
          open.text += text;
          break;
        }
        case "Error":
          // A retry voids what its step wrote: the handler has not seen it yet, because the block never completed.
          if (!event.payload.terminal && event.payload.step !== undefined) open = undefined;
          break;
        case "ToolCallStarted": {
          closeText();
          const { call_id, name, args } = event.payload;
          handler.onToolCall?.(call_id, name, args);
          break;
        }
        case "ToolResult": {
          const { call_id, content, is_error } = event.payload;
          handler.onToolResult?.(call_id, textOf(content), is_error);
          break;
        }
        case "CostIncremented":
        case "TurnEnded":
          closeText();
          break;
        default:
      }
    },
  };
}

function textOf(content: readonly ToolOutputBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
}
