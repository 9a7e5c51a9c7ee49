/**
 * Methods that are one command each, from the table of the protocol, and `command.submit`, which takes them by their kind. The fields
 * are those of the command, the result is its reply. Methods with words of their own are in `methods.ts`.
 */
import { z } from "zod";
import {
  type Command,
  type CommandKind,
  commandKinds,
  commandRows,
  isCommandKind,
  orderKey,
  ReasonError,
} from "#protocol";
import { parseCommand, wireReply } from "#protocol/schemas";
import { type Method, type MethodContext, method } from "./method.ts";

/** What does more here than the command, or would take the events away from this connection, has its own method alone. */
const OWN_METHOD: ReadonlySet<CommandKind> = new Set([
  "CreateSession",
  "AttachSession",
  "DetachSession",
  "SendInput",
  "CancelTurn",
]);

const session = z.string().max(200);

export const commandMethods: ReadonlyMap<string, Method<unknown>> = new Map(
  commandKinds.flatMap((kind) => {
    const { rpc } = commandRows[kind];
    return rpc === undefined || OWN_METHOD.has(kind) ? [] : [[rpc, methodOf(kind)] as const];
  }),
);

export const submitCommand = method({
  params: z.object({ command: z.looseObject({ kind: z.string(), session }) }),
  lane: ({ command }) => (isCommandKind(command.kind) ? orderKey(command.kind, command.session) : command.session),
  async run(context, { command: raw }) {
    const command = parseCommand(raw);
    if (OWN_METHOD.has(command.kind)) {
      throw new ReasonError("InvalidCommand", `${command.kind} has its own method here`);
    }
    return carryOut(context, command, raw.session);
  },
});

function methodOf(kind: CommandKind): Method<unknown> {
  return method({
    params: z.looseObject({ session }),
    lane: (fields) => orderKey(kind, fields.session),
    run: (context, fields) => carryOut(context, parseCommand({ ...fields, kind }), fields.session),
  });
}

async function carryOut({ threads, client, outward }: MethodContext, command: Command, name: string): Promise<object> {
  await threads.open(name);
  const { kind: _, ...reply } = wireReply(command.kind, await client.submit(command));
  return { ok: true, ...outward.value(reply) };
}
