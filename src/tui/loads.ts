/**
 * What layers can ask for, by name: one row for each, which reads through the client. The answer comes back as a message. A refusal
 * comes back as one as well, in words for a person.
 */
import type { SessionInfo } from "#client";
import type { Event, SlashCommand } from "#protocol";
import type { InterfaceParts } from "./interface.ts";

/** What is read at a time of a conversation that began before this interface; the client reads in pages of as many. */
export const EARLIER_EVENTS = 500;

/** What a row may use. */
export type LoadWorld = Pick<InterfaceParts, "client" | "session" | "history" | "commands">;

export const loads = {
  /** What people can type. */
  commands: ({ commands }: LoadWorld): Promise<readonly SlashCommand[]> => commands(),
  /** Inputs of this project, newest first. */
  history: async ({ history }: LoadWorld): Promise<readonly string[]> => history(),
  /** The events of the conversation before this id, oldest first: at most a page of them. */
  earlier: async ({ session }: LoadWorld, before: string): Promise<readonly Event[]> => {
    const end = Number(before);
    const events: Event[] = [];
    for await (const event of session.log({ after: Math.max(0, end - 1 - EARLIER_EVENTS) })) {
      if (event.id >= end) break;
      events.push(event);
    }
    return events;
  },
  info: ({ client }: LoadWorld, session: string): Promise<SessionInfo> => client.session(session).info(),
} as const;

export type LoadName = keyof typeof loads;
type Value<Name extends LoadName> = Awaited<ReturnType<(typeof loads)[Name]>>;

export interface LoadEffect {
  readonly type: "load";
  readonly name: LoadName;
  readonly argument?: string;
}

/** `argument`: what was asked for. */
export type Loaded =
  | {
      [Name in LoadName]: {
        readonly type: "loaded";
        readonly name: Name;
        readonly argument: string;
        readonly value: Value<Name>;
      };
    }[LoadName]
  | { readonly type: "not-loaded"; readonly name: LoadName; readonly argument: string; readonly text: string };

export async function runLoad(world: LoadWorld, { name, argument = "" }: LoadEffect): Promise<Loaded> {
  const value = await loads[name](world, argument);
  return { type: "loaded", name, argument, value } as Loaded; // the row that was named gave the value
}
