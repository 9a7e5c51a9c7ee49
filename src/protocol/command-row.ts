/**
 * What one row of the command table says. A row holds no schema: `params` and `reply` are handed the fields of `command-fields.ts`
 * when somebody parses, so that whoever only looks a command up loads no parser.
 */
import type { z } from "zod";
import type * as commandFields from "./command-fields.ts";

export type CommandFields = typeof commandFields;

/**
 * What a command waits for where a connection carries out several at a time. `session`: the commands before it for the same session.
 * `program`: those that open sessions. `none`: nothing, because others may wait for it.
 */
export type OrderingScope = "session" | "program" | "none";

export interface CommandRow<Params extends z.ZodRawShape = z.ZodRawShape, Reply extends z.ZodRawShape = z.ZodRawShape> {
  /** What it does. Documents add who may send it and its feature, from the fields below. */
  readonly text: string;
  readonly params: (fields: CommandFields) => Params;
  /** What the sender gets back; nothing but the acknowledgement where it is empty. */
  readonly reply: (fields: CommandFields) => Reply;
  readonly scope: OrderingScope;
  /** Refused for agents. Completes the sentence "Only a human may …". */
  readonly humanOnly?: string;
  /** The flag of the handshake that announces it; absent for the first commands of the protocol. */
  readonly feature?: string;
  /** Method and path; several commands can share one. Absent: `POST /v1/sessions/{id}/commands`. */
  readonly route?: `${"GET" | "POST" | "DELETE"} /v1/${string}`;
  /** Method of the JSON-RPC surface. Absent: a connection there has one attachment, which it does not change. */
  readonly rpc?: string;
  /** A name that says what whoever allows the tool allows. Absent: that of the command; see `mcpToolOf`. */
  readonly mcpTool?: `harness.${string}`;
}

type Given<Params extends z.ZodRawShape, Reply extends z.ZodRawShape> = Omit<CommandRow<Params, Reply>, "reply"> &
  Partial<Pick<CommandRow<Params, Reply>, "reply">>;

/** A row as it is written: without `reply` there is none. */
export function row<Params extends z.ZodRawShape, Reply extends z.ZodRawShape = Record<never, never>>(
  given: Given<Params, Reply>,
): CommandRow<Params, Reply> {
  // The default of `Reply` is what an absent `reply` gives.
  const { reply = () => ({}) as Reply, ...rest } = given;
  return { ...rest, reply };
}
