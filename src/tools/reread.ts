/**
 * `reread`: a result or an input of this session that a compaction has removed, as the log has it. It is there once something was
 * removed. It reads the session's own log and nothing else; what it gives carries every label that the session holds.
 */
import { objectSchema } from "#base";
import { type Tool, ToolError, type ToolOutput } from "#engine";
import type { Event, InputBlock, ToolOutputBlock } from "#protocol";
import { optionalInteger } from "./arguments.ts";
import type { ToolFacts } from "./facts.ts";

export const rereadFacts = {
  name: "reread",
  label: "Reread",
  class: "read_only",
  kind: "reread",
  relays: true,
  subject: ({ event }) => String(event),
} as const satisfies ToolFacts;

/** `read`: an event of the session that the call belongs to, by its number; undefined when there is none. */
export function createRereadTool(read: (event: number) => Promise<Event | undefined>): Tool & ToolFacts {
  return {
    ...rereadFacts,
    description:
      "Read again what was removed from this conversation to save room: the number of a result, as references and summaries name it.",
    parameters: objectSchema({ event: { type: "integer", minimum: 1 } }, ["event"]),
    async run(args): Promise<ToolOutput> {
      const number = optionalInteger(args, "event", 1) ?? 0;
      const event = await read(number);
      switch (event?.kind) {
        case "TurnStarted":
          if (event.payload.refused === true) break;
          return { content: event.payload.content.map(outputBlock) };
        case "TurnSteered":
          return { content: event.payload.content.map(outputBlock) };
        case "ToolResult":
        case "ContextAdded":
          return { content: event.payload.content };
      }
      throw new ToolError(`${number} is not the number of a result or an input of this session.`);
    },
  };
}

/** A result holds no files; it is shown as content from outside as a whole. */
function outputBlock(block: InputBlock): ToolOutputBlock {
  return block.type === "file" ? { type: "text", text: `file ${block.name}:\n${block.text}` } : block;
}
