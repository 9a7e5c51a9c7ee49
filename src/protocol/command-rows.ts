/** Every command a client can send, each one row. Types, parsers, routes, methods, documents and the handshake follow from it. */
import type { z } from "zod";
import { answerCommands } from "./answer-commands.ts";
import type { decision } from "./command-fields.ts";
import type { CommandRow } from "./command-row.ts";
import type { SessionId } from "./ids.ts";
import { scheduleCommands } from "./schedule-commands.ts";
import { sessionCommands } from "./session-commands.ts";
import { turnCommands } from "./turn-commands.ts";

const table = { ...sessionCommands, ...turnCommands, ...answerCommands, ...scheduleCommands };
type Table = typeof table;

export type CommandKind = keyof Table;
export type Decision = z.infer<typeof decision>;

/** The rows by kind, for whoever does not need the types of their fields. */
export const commandRows: Readonly<Record<CommandKind, CommandRow>> = table;
// An object has the keys that its type says, when it is written down like this one.
export const commandKinds = Object.keys(table) as readonly CommandKind[];

export type ParamsShape<Kind extends CommandKind> = ReturnType<Table[Kind]["params"]>;
export type ReplyShape<Kind extends CommandKind> = ReturnType<Table[Kind]["reply"]>;

type FieldsOf<Kind extends CommandKind> = { [K in Kind]: z.output<z.ZodObject<ParamsShape<K>>> }[Kind];

export type CommandOf<Kind extends CommandKind> = { readonly kind: Kind } & FieldsOf<Kind>;
export type Command = { [Kind in CommandKind]: CommandOf<Kind> }[CommandKind];
/** All but the one that opens a session. */
export type SessionCommandKind = Exclude<CommandKind, "CreateSession">;
/** A command without the session that it is for. */
export type SessionCommandOf<Kind extends SessionCommandKind> = { readonly kind: Kind } & {
  [K in Kind]: Omit<FieldsOf<K>, "session">;
}[Kind];
/** What the sender of a command gets back. */
export type ReplyOf<Kind extends CommandKind> = { [K in Kind]: z.output<z.ZodObject<ReplyShape<K>>> }[Kind];

export function isCommandKind(kind: unknown): kind is CommandKind {
  return typeof kind === "string" && Object.hasOwn(table, kind);
}

/** A command whose kind is not known, of one that is generic; TypeScript does not see that it is a member of the union. */
export function asCommand<Kind extends CommandKind>(command: CommandOf<Kind>): Command {
  return command as unknown as Command;
}

/** The session that a command is for, or opens again; undefined for one that opens a new session. */
export function sessionOf(command: Command): SessionId | undefined {
  return "session" in command ? command.session : command.resume;
}

export function forSession<Kind extends SessionCommandKind>(
  session: SessionId,
  command: SessionCommandOf<Kind>,
): CommandOf<Kind> {
  // The session is the one field that it lacked; TypeScript does not follow that through the union.
  return { ...command, session } as unknown as CommandOf<Kind>;
}

/** `SetModel` is `harness.set_model`. */
export function mcpToolOf(kind: CommandKind): string {
  return commandRows[kind].mcpTool ?? `harness.${kind.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase()}`;
}

/** Commands of a connection with the same key are carried out one after the other. Undefined: it waits for none. */
export function orderKey(kind: CommandKind, session: string | undefined): string | undefined {
  const { scope } = commandRows[kind];
  return scope === "none" ? undefined : (session ?? "program");
}
