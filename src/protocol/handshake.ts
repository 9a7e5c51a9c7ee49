/** The handshake that precedes every command on a transport, built from the tables so that it cannot drift. */
import { z } from "zod";
import { defined } from "#base";
import { type CommandKind, commandKinds, commandRows } from "./command-rows.ts";
import { CANONICAL_FORM_VERSION } from "./content.ts";
import { events } from "./events.ts";
import { ClientId } from "./ids.ts";
import { PROTOCOL_VERSION } from "./version.ts";
import { idSchema, wire } from "./wire.ts";

export const handshakeSchema = wire({
  protocol_version: z.string(),
  canonical_form_version: z.number().int(),
  schema_version_token_claim: z.number().int(),
  schema_version_profile: z.number().int(),
  schema_version_session_log: z.number().int(),
  command_kinds: z.array(z.string()),
  event_kinds: z.array(z.string()),
  features: z.array(z.string()),
  resource_uri_scheme: z.string(),
  client: idSchema(ClientId)
    .optional()
    .describe("The client id of this attachment, which is the originator of its turns. Others may use the same token."),
});

export type Handshake = z.infer<typeof handshakeSchema>;

/** What this build can do beyond the first commands of the protocol, each with the commands that it consists of. */
export const FEATURES: ReadonlyMap<string, readonly CommandKind[]> = Map.groupBy(
  commandKinds.filter((kind) => commandRows[kind].feature !== undefined),
  (kind) => commandRows[kind].feature ?? "",
);

/**
 * What every session can do without a command of its own: its agent delegates, keeps todos and memories, runs commands in the background
 * and calls MCP servers; `--auto-approve` answers for a person; an answer changes a call, and an input names a skill, by a field; an input has files, as blocks.
 */
export const ENGINE_FEATURES: readonly string[] =
  "delegate auto_approve todos background_commands changed_calls mcp_servers memory skills input_files".split(" ");

/**
 * A client may rely on nothing that is not listed. `transports` are the features of the wire that it is told on, `client` is the one
 * that is told.
 */
export function buildHandshake(transports: readonly string[] = [], client?: ClientId): Handshake {
  return {
    protocol_version: PROTOCOL_VERSION,
    canonical_form_version: CANONICAL_FORM_VERSION,
    schema_version_token_claim: 1,
    schema_version_profile: 1,
    schema_version_session_log: 1,
    command_kinds: [...commandKinds],
    event_kinds: Object.keys(events),
    features: [...FEATURES.keys(), ...ENGINE_FEATURES, ...transports],
    resource_uri_scheme: "harness/v1",
    ...defined({ client }),
  };
}
