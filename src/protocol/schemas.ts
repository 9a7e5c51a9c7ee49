/** The zod side of the protocol, for edges that parse foreign bytes and for generated documents. Loads zod. */
import { z } from "zod";
import { type Command, command, commands } from "./commands.ts";
import { contentBlocks } from "./content.ts";
import { envelopeSchema } from "./envelope.ts";
import { events } from "./events.ts";
import { handshakeSchema } from "./handshake.ts";
import { ReasonError } from "./reasons.ts";

export { commands } from "./commands.ts";
export { contentBlock, contentBlocks, message } from "./content.ts";
export { parseEvent } from "./envelope.ts";
export { events, reservedEvents } from "./events.ts";
export { buildHandshake, handshakeSchema } from "./handshake.ts";
export { streamEvents } from "./stream-events.ts";
export { PROTOCOL_VERSION } from "./version.ts";

/** The command, or an InvalidCommand error that names the field and what was expected. */
export function parseCommand(raw: unknown): Command {
  const parsed = command.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ReasonError("InvalidCommand", { detail: z.prettifyError(parsed.error).replace(/\s*\n\s*/g, " ") });
}

/** One JSON Schema document (2020-12) with every command, event payload and content block under `$defs`. */
export function protocolJsonSchema(): Record<string, unknown> {
  const defs: Record<string, unknown> = {};
  const add = (name: string, schema: z.ZodType): void => {
    const { $schema: _, ...body } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    defs[name] = body;
  };
  for (const [name, schema] of Object.entries(commands)) add(`command.${name}`, schema);
  for (const [name, schema] of Object.entries(events)) add(`event.${name}`, schema);
  for (const [name, schema] of Object.entries(contentBlocks)) add(`block.${name}`, schema);
  add("envelope", envelopeSchema);
  add("handshake", handshakeSchema);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "harness-protocol", $defs: defs };
}
