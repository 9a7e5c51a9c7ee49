/** Answers what a server asks while it works on a request of a tool: through the call, so that it is on its record. */
import type { McpServer } from "#artifacts";
import { messageOf, type ServerAsk, type ServerReply } from "#base";
import type { ToolContext } from "#engine";
import { elicit } from "./elicitation.ts";

export function answering(
  { name }: McpServer,
  context: ToolContext,
): (asked: ServerAsk, signal: AbortSignal) => Promise<ServerReply> {
  return async (asked, signal) => {
    try {
      return await elicit(name, asked, context, signal);
    } catch (error) {
      return { refused: messageOf(error) };
    }
  };
}
