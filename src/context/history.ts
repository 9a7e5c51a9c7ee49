/** Request middleware: the conversation so far and the tools that may be called, as the session has them. */
import type { RequestMiddleware, Tool } from "#engine";
import type { Message, TextBlock } from "#protocol";

export interface HistoryOptions {
  /** Turns that are shown to the model; absent: all. Asked at every step. */
  readonly maxTurns?: () => number | undefined;
}

export function createHistory({ maxTurns }: HistoryOptions = {}): RequestMiddleware {
  return (call, next) => {
    const { request, history, pinned, tools, session } = call;
    const shown = lastTurns(history, maxTurns?.());
    const schemas = offeredTools(tools, history).map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    return next({
      ...call,
      request: {
        ...request,
        messages: [...request.messages, ...(shown === history ? history : withPinned(shown, pinned))],
        tools: [...request.tools, ...schemas],
        cacheKey: session,
      },
    });
  };
}

/** A deferred tool is sent once the conversation has called it. */
function offeredTools(tools: readonly Tool[], history: readonly Message[]): readonly Tool[] {
  if (!tools.some(({ deferred }) => deferred)) return tools;
  const called = new Set<string>();
  for (const { content } of history) for (const block of content) if (block.type === "tool_use") called.add(block.name);
  return tools.filter(({ name, deferred }) => !deferred || called.has(name));
}

/** What a limit of turns has cut off and still applies is said again, before the first thing that is shown. */
function withPinned(shown: readonly Message[], pinned: readonly TextBlock[]): readonly Message[] {
  const [first, ...rest] = shown;
  if (first?.role !== "user" || pinned.length === 0) return shown;
  const said = new Set<string>();
  for (const { content } of shown) for (const block of content) if (block.type === "text") said.add(block.text);
  const missing = pinned.filter((block) => !said.has(block.text));
  return missing.length === 0 ? shown : [{ ...first, content: [...missing, ...first.content] }, ...rest];
}

/** Begins where a turn begins: with something that a person said and not with the result of a call. */
export function lastTurns(history: readonly Message[], turns: number | undefined): readonly Message[] {
  if (turns === undefined) return history;
  let left = Math.max(1, turns);
  for (let at = history.length - 1; at > 0; at--) {
    if (!beginsTurn(history[at])) continue;
    left -= 1;
    if (left === 0) return history.slice(at);
  }
  return history;
}

function beginsTurn(message: Message | undefined): boolean {
  return message?.role === "user" && message.content.every((block) => block.type !== "tool_result");
}
