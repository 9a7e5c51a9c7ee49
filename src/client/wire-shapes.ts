/** What comes over a wire, checked as far as the client itself relies on it. The rest passes as it is, also what is not known here. */
import { isRecord } from "#base";
import {
  type CommandKind,
  type Event,
  type Handshake,
  PROTOCOL_VERSION,
  ReasonError,
  type ReplyOf,
  SessionId,
  type SessionInfo,
  type SlashCommand,
  understands,
} from "#protocol";
import { garbled } from "./refusal.ts";

/** An envelope with an id, a kind and a session; kinds and fields of newer servers included. */
export function eventFrom(value: unknown, address: string): Event {
  if (isRecord(value)) {
    const { id, kind, session } = value;
    const isEnvelope = typeof id === "number" && typeof kind === "string" && typeof session === "string";
    // A kind that is not known here has a payload that is not looked at: whoever switches on the kind has a default.
    if (isEnvelope && Number.isSafeInteger(id) && SessionId.is(session)) return value as unknown as Event;
  }
  throw garbled(address, "an event without its envelope");
}

/** The last id of a page of the log, which goes on from `after`: a page that does not would be asked for without end. */
export function lastOf(page: readonly Event[], after: number, address: string): number {
  let last = after;
  for (const { id } of page) {
    if (id <= last) throw garbled(address, "a page of the log that does not continue the one before");
    last = id;
  }
  return last;
}

/** Of a server that understands this client. Throws HandshakeVersionMismatch. */
export function handshakeFrom(value: unknown, address: string): Handshake {
  if (!isRecord(value) || typeof value.protocol_version !== "string" || !Array.isArray(value.features)) {
    throw garbled(address, "an answer that is not a handshake");
  }
  if (!understands(value.protocol_version, PROTOCOL_VERSION)) {
    throw new ReasonError("HandshakeVersionMismatch", {
      client_ver: PROTOCOL_VERSION,
      server_ver: value.protocol_version.slice(0, 40),
      client_or_server: "the older of the two",
    });
  }
  return value as unknown as Handshake; // what a newer server adds does no harm
}

export function sessionInfoFrom(value: unknown, address: string): SessionInfo {
  if (isRecord(value) && typeof value.id === "string" && typeof value.last_event_id === "number") {
    return value as unknown as SessionInfo; // fields that were added since do no harm
  }
  throw garbled(address, "a session without its id");
}

/** Words that people can type, as far as they can be shown and carried out here. */
export function slashCommandsFrom(value: unknown, address: string): readonly SlashCommand[] {
  if (!Array.isArray(value) || !value.every(isSlashCommand))
    throw garbled(address, "a list that is not of slash commands");
  return value;
}

function isSlashCommand(value: unknown): value is SlashCommand {
  if (!isRecord(value)) return false;
  const { namespace, name, description, args_schema: schema } = value;
  const isNamed = [namespace, name, description].every((text) => typeof text === "string");
  if (!isNamed || !isRecord(schema) || !isRecord(schema.properties)) return false;
  return Object.values(schema.properties).every(isRecord) && Array.isArray(schema.required);
}

/** What a command came to. The parsers of the protocol are loaded when the first reply is there. */
export async function replyFrom<Kind extends CommandKind>(
  kind: Kind,
  value: unknown,
  address: string,
): Promise<ReplyOf<Kind>> {
  const { parseReply } = await import("#protocol/schemas");
  const reply = parseReply(kind, value);
  if (reply === undefined) throw garbled(address, `an answer that is not a reply to ${kind}`);
  return reply;
}

/** Of the session that an answer is about. */
export function sessionIdFrom(value: unknown, address: string): SessionId {
  if (isRecord(value) && typeof value.id === "string" && SessionId.is(value.id)) return value.id;
  throw garbled(address, "an answer that names no session");
}
