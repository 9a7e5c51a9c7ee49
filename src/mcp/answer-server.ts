/** Answers what a server asks a person or the model while it works on a request of a tool: through the call, so that it is on its record. */
import type { McpServer } from "#artifacts";
import { messageOf, type ServerAsk, type ServerReply } from "#base";
import type { ToolContext } from "#engine";
import { elicit } from "./elicitation.ts";
import { sample } from "./sampling.ts";

export function answering(
  { name, sampling }: McpServer,
  context: ToolContext,
): (asked: ServerAsk, signal: AbortSignal) => Promise<ServerReply> {
  return async (asked, signal) => {
    try {
      if (asked.method === "elicitation/create") return await elicit(name, asked, context, signal);
      if (sampling) return await sample(name, asked, context, signal);
      return { refused: "the user does not let this server have a model answer it" };
    } catch (error) {
      return { refused: messageOf(error) };
    }
  };
}
