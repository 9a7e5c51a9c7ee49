/** Which events of a delegate the clients above it are told of: its questions, and what became of them. */
import type { CallId, Event } from "#protocol";

/** Whether somebody who may answer the questions of a delegate has to see this. `asked` gathers the calls that were asked about. */
export function isAboutQuestion(event: Event, asked: Set<CallId>): boolean {
  switch (event.kind) {
    case "PermissionRequested":
    case "QuestionAsked":
      asked.add(event.payload.call_id);
      return true;
    case "PermissionAnswered":
      return asked.has(event.payload.call_id);
    case "ToolResult":
      return asked.delete(event.payload.call_id);
    default:
      return false;
  }
}
