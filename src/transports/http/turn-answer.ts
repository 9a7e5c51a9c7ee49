/** `?wait=turn`: one input in, the answer of its turn out, with what it has cost and which tools it used. */
import { defined } from "#base";
import { type CommandOf, createAnswerCollector, type Event, ReasonError, reasonText } from "#protocol";
import type { RouteCall } from "./route.ts";

/** Names of tools that one answer lists. */
const MAX_TOOLS_LISTED = 200;

export async function answerOfTurn(
  { backend, principal }: RouteCall,
  command: CommandOf<"SendInput">,
): Promise<Readonly<Record<string, unknown>>> {
  const collector = createAnswerCollector();
  const tools = new Set<string>();
  const watcher = backend.control.connect({
    id: principal.id,
    identityClass: principal.claims.identity_class,
    transport: "http",
    ...defined({ name: principal.name }),
    interactive: false,
    onEvent(event: Event) {
      collector.add(event);
      if (event.kind === "ToolCallStarted" && tools.size < MAX_TOOLS_LISTED) tools.add(event.payload.label);
    },
  });
  try {
    await watcher.submit({ kind: "AttachSession", session: command.session });
    const { done } = await principal.submit(command);
    const { turn, outcome, reason, message, steps, usage, costUsd } = await done;
    // As where not even its end could be stored: the client reads the same, whichever was the first that did not fit.
    if (reason === "StoreFailed") throw ReasonError.withMessage(reason, message ?? reasonText(reason));
    return {
      turn,
      outcome,
      ...defined({ reason, message }),
      answer: collector.text(),
      summary: { cost: costUsd ?? null, turns: steps, tools_used: [...tools], usage },
    };
  } finally {
    watcher.disconnect();
  }
}
