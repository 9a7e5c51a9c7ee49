/** The command table as schemas: what each command and each reply is parsed with. */
import { z } from "zod";
import * as fields from "./command-fields.ts";
import { type CommandKind, commandKinds, commandRows, type ParamsShape, type ReplyShape } from "./command-rows.ts";
import { wire } from "./wire.ts";

type CommandSchemas = {
  readonly [Kind in CommandKind]: ReturnType<typeof wire<{ kind: z.ZodLiteral<Kind> } & ParamsShape<Kind>>>;
};
type ReplySchemas = { readonly [Kind in CommandKind]: ReturnType<typeof wire<ReplyShape<Kind>>> };

// Built from the rows that the two types are computed from.
export const commands = byKind((kind) => {
  return wire({ kind: z.literal(kind), ...commandRows[kind].params(fields) }).describe(describeCommand(kind));
}) as CommandSchemas;

export const replies = byKind((kind) => wire(commandRows[kind].reply(fields))) as ReplySchemas;

/** What a command does, who may send it and what announces it. */
function describeCommand(kind: CommandKind): string {
  const { text, humanOnly, feature } = commandRows[kind];
  const who = humanOnly === undefined ? "" : ` Only a human may ${humanOnly}.`;
  return `${text}${who}${feature === undefined ? "" : ` Feature: ${feature}.`}`;
}

function byKind(schema: (kind: CommandKind) => z.ZodType): unknown {
  return Object.fromEntries(commandKinds.map((kind) => [kind, schema(kind)]));
}
