/** Which events of a delegate the clients above it are told of: its questions, and what became of them. */
import type { EventBus } from "#engine";
import type { CallId, Event } from "#protocol";

interface Hearer {
  readonly onEvent?: (event: Event) => void;
}

/** `above`: those who are to be told, at the moment of each event. One that throws is told no more; the others are. */
export function forwardQuestions(bus: Pick<EventBus, "subscribe">, above: () => Iterable<Hearer>): void {
  const asked = new Set<CallId>();
  const cut = new Set<Hearer>();
  bus.subscribe((event) => {
    if (!isAboutQuestion(event, asked)) return;
    for (const client of above()) {
      if (cut.has(client)) continue;
      try {
        client.onEvent?.(event);
      } catch {
        cut.add(client);
      }
    }
  });
}

/** `asked` gathers the calls that were asked about. */
function isAboutQuestion(event: Event, asked: Set<CallId>): boolean {
  switch (event.kind) {
    case "PermissionRequested":
    case "QuestionAsked":
    case "AckRequested":
      asked.add(event.payload.call_id);
      return true;
    case "PermissionAnswered":
    case "QuestionAnswered":
      return asked.has(event.payload.call_id);
    case "AckSettled":
    case "ToolResult":
      return asked.delete(event.payload.call_id);
    default:
      return false;
  }
}
