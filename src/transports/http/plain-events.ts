/** The small event surface: what a simple front end needs, as a pure function of canonical events. */
import { displayText, type Event } from "#protocol";
import { eventFrame } from "#wire";

/** No frame for an event that this surface does not have. */
export function plainFrames(event: Event): string | undefined {
  const frames = plainEvents(event).map((plain) => eventFrame({ data: JSON.stringify(plain) }));
  return frames.length === 0 ? undefined : frames.join("");
}

export function plainEvents(event: Event): readonly Readonly<Record<string, unknown>>[] {
  const timestamp = Math.floor(Date.parse(event.ts) / 1000);
  switch (event.kind) {
    case "TurnStarted":
      return [
        { type: "user", content: displayText(event.payload.content), timestamp },
        status("thinking", "The model is working."),
      ];
    case "TurnSteered":
      return [{ type: "user", content: displayText(event.payload.content), timestamp }];
    case "TextDelta":
      return [{ type: "text", content: event.payload.text, timestamp }];
    case "ThinkingDelta":
      return event.payload.text === "" ? [] : [{ type: "reasoning", content: event.payload.text, timestamp }];
    case "ToolCallStarted": {
      const { call_id: id, name, args: input, label } = event.payload;
      return [{ type: "tool_call", id, name, input, timestamp }, status("running tool", label)];
    }
    case "ToolResult": {
      const { call_id: id, content, is_error: isError } = event.payload;
      return [{ type: "tool_result", id, result: displayText(content), isError, timestamp }];
    }
    case "PermissionRequested":
      return [status("waiting", event.payload.summary)];
    case "Error":
      return [status(event.payload.terminal ? "error" : "thinking", event.payload.message)];
    case "StreamGap":
      return [status("gap", `Events ${event.payload.from} to ${event.payload.to} are missing here.`)];
    case "TokenExpiring":
      return [status("expiring", `The token of this client expires at ${event.payload.expires_at}.`)];
    case "TurnLost":
      return [status("error", event.payload.message)];
    case "TurnEnded":
      return [status("idle", event.payload.outcome)];
    default:
      return [];
  }
}

function status(state: string, message: string): Readonly<Record<string, unknown>> {
  return { type: "status", state, message };
}
