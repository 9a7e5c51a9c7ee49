/** The zod side of the protocol, for edges that parse foreign bytes and for generated documents. Loads zod. */
import { z } from "zod";
import { isRecord } from "#base";
import { type Command, type CommandKind, type CommandOf, isCommandKind, type ReplyOf } from "./command-rows.ts";
import { commands, replies } from "./commands.ts";
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
  const kind = isRecord(raw) ? raw.kind : undefined;
  if (!isCommandKind(kind)) throw invalid(`kind: there is no command ${JSON.stringify(kind)?.slice(0, 100)}`);
  const parsed = commands[kind].safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(z.prettifyError(parsed.error));
}

/** The same for a kind that is known: `fields` are those of the command. */
export function commandFrom<Kind extends CommandKind>(kind: Kind, fields: object): CommandOf<Kind> {
  // Parsed as this kind, so it is one of it; TypeScript does not follow that.
  return parseCommand({ ...fields, kind }) as CommandOf<Kind>;
}

/** The reply to a command of the kind, or undefined when the value is none. */
export function parseReply<Kind extends CommandKind>(kind: Kind, value: unknown): ReplyOf<Kind> | undefined {
  // As above.
  return replies[kind].safeParse(value).data as ReplyOf<Kind> | undefined;
}

/** The fields of a reply that are on the wire: what is only for this process stays here. */
export function wireReply(kind: CommandKind, reply: object): Readonly<Record<string, unknown>> {
  const known = Object.keys(replies[kind].in.shape);
  return { kind, ...Object.fromEntries(Object.entries(reply).filter(([name]) => known.includes(name))) };
}

function invalid(detail: string): ReasonError {
  return new ReasonError("InvalidCommand", detail.replace(/\s*\n\s*/g, " "));
}

/** One JSON Schema document (2020-12) with every command, reply, event payload and content block under `$defs`. */
export function protocolJsonSchema(): Record<string, unknown> {
  const defs: Record<string, unknown> = {};
  const add = (name: string, schema: z.ZodType): void => {
    const { $schema: _, ...body } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    defs[name] = body;
  };
  for (const [name, schema] of Object.entries(commands)) add(`command.${name}`, schema);
  for (const [name, schema] of Object.entries(replies)) {
    if (Object.keys(schema.in.shape).length > 0) add(`reply.${name}`, schema);
  }
  for (const [name, schema] of Object.entries(events)) add(`event.${name}`, schema);
  for (const [name, schema] of Object.entries(contentBlocks)) add(`block.${name}`, schema);
  add("envelope", envelopeSchema);
  add("handshake", handshakeSchema);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "harness-protocol", $defs: defs };
}
