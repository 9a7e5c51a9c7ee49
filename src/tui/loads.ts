/**
 * What layers can ask for, by name: one row for each, which reads through the client. The answer comes back as a message. A refusal
 * comes back as one as well, in words for a person.
 */
import type { CallId, SessionInfo } from "#client";
import { displayText, type Event, type EventOf, type ReplyOf, type SlashCommand, type TurnId } from "#protocol";
import type { InterfaceParts } from "./interface.ts";
import { type SearchReport, searchSessions } from "./session-search.ts";
import type { SessionFacts } from "./session-status.ts";

/** What is read at a time of a conversation that began before this interface; the client reads in pages of as many. */
export const EARLIER_EVENTS = 500;

/** What a row may use. */
export type LoadWorld = Pick<InterfaceParts, "client" | "session" | "history" | "commands" | "reminder">;

export const loads = {
  /** What people can type. */
  commands: ({ commands }: LoadWorld): Promise<readonly SlashCommand[]> => commands(),
  reminder: ({ reminder }: LoadWorld): Promise<string> => reminder.text(),
  /** Inputs of this project, newest first, each once. */
  history: async ({ history }: LoadWorld): Promise<readonly string[]> => [...new Set(history())],
  /** `FROM:TO`: the events of the conversation from the one on and before the other, oldest first. */
  earlier: async ({ session }: LoadWorld, range: string): Promise<readonly Event[]> => {
    const [from = 0, end = 0] = range.split(":").map(Number);
    const events: Event[] = [];
    for await (const event of session.log({ after: Math.max(0, from - 1) })) {
      if (event.id < end) events.push(event);
      // One more would be another page.
      if (event.id >= end - 1) break;
    }
    return events;
  },
  /** What the session runs with now. */
  facts: async ({ session }: LoadWorld): Promise<SessionFacts> =>
    (await session.submit({ kind: "DescribeSession" })).result,
  /** Newest first, without those of delegates. `all`, otherwise those of the folder of the conversation. */
  sessions: async (world: LoadWorld, scope: string): Promise<readonly SessionInfo[]> => {
    const { working_dir: workingDir } = await world.session.info();
    const found = await world.client.sessions(scope === "all" ? {} : { workingDir });
    const isDelegate = await Promise.all(found.map((info) => isOfDelegate(world, info)));
    return found.filter((_, at) => isDelegate[at] === false);
  },
  /** `SCOPE/WORDS`: sessions in which the words were said. Without words: nothing. */
  search: async (world: LoadWorld, argument: string, signal: AbortSignal): Promise<SearchReport> => {
    const end = argument.indexOf("/");
    const words = argument.slice(end + 1);
    if (words === "") return { found: [], searched: 0, of: 0 };
    return searchSessions(world.client, await loads.sessions(world, argument.slice(0, end)), words, signal);
  },
  /** Oldest first. */
  turns: ({ session }: LoadWorld): Promise<readonly TurnRow[]> => turnsOf(session),
  rules: async ({ session }: LoadWorld): Promise<ReplyOf<"ListRules">["result"]> =>
    (await session.submit({ kind: "ListRules" })).result,
  /** What an undo of the turn would do. */
  "undo-plan": async ({ session }: LoadWorld, turn: string): Promise<ReplyOf<"UndoTurn">["result"]> =>
    (await session.submit({ kind: "UndoTurn", turn: turn as TurnId, dry_run: true })).result, // an id of an event
  /** What a background command printed last. */
  "job-output": async ({ session }: LoadWorld, job: string): Promise<string> => {
    const { result } = await session.submit({
      kind: "RunSlashCommand",
      namespace: "jobs",
      name: "output",
      args: { job },
    });
    return result.text ?? "";
  },
  /** How much there is of what the side panel lists. */
  panel: async (world: LoadWorld): Promise<PanelFacts> => {
    const { session, commands } = world;
    const [{ result: facts }, { result: rules }, words] = await Promise.all([
      session.submit({ kind: "DescribeSession" }),
      session.submit({ kind: "ListRules" }),
      commands(),
    ]);
    return { facts, rules, words };
  },
  schedules: async ({ session }: LoadWorld): Promise<ReplyOf<"ListSchedules">["result"]> =>
    (await session.submit({ kind: "ListSchedules" })).result,
  /** What the session changed, or one turn and those after it. */
  changes: async ({ session }: LoadWorld, turn: string): Promise<ReplyOf<"DescribeChanges">["result"]> =>
    (await session.submit({ kind: "DescribeChanges", ...(turn !== "" && { turn: turn as TurnId }) })).result, // an id of an event
  /** `TURN/PATH`, where the turn may be empty: the same with the texts of the path. */
  "changed-file": async ({ session }: LoadWorld, place: string): Promise<ReplyOf<"DescribeChanges">["result"]> => {
    const end = place.indexOf("/");
    const turn = place.slice(0, end);
    const path = place.slice(end + 1);
    const since = turn === "" ? {} : { turn: turn as TurnId }; // an id of an event
    return (await session.submit({ kind: "DescribeChanges", path, ...since })).result;
  },
  /** `SESSION/CALL`: a file that an ack is asked for. */
  ack: async ({ client }: LoadWorld, place: string): Promise<ReplyOf<"DescribeAck">["result"]> => {
    const [session = "", call = ""] = place.split("/");
    // ids of events
    return (await client.session(session).submit({ kind: "DescribeAck", call_id: call as CallId })).result;
  },
  /** `SESSION/EVENT`: what a delegate has called since then. */
  "delegate-work": async ({ client }: LoadWorld, place: string): Promise<DelegateNews> => {
    const [session = "", after = "0"] = place.split("/");
    let news: DelegateNews = { seen: Number(after), calls: 0, call: undefined };
    for await (const { id, kind, payload } of client.session(session).log({ after: news.seen })) {
      news = kind === "ToolCallStarted" ? { seen: id, calls: news.calls + 1, call: payload } : { ...news, seen: id };
    }
    return news;
  },
  info: ({ client }: LoadWorld, session: string): Promise<SessionInfo> => client.session(session).info(),
} as const;

interface DelegateNews {
  readonly seen: number;
  readonly calls: number;
  readonly call: EventOf<"ToolCallStarted">["payload"] | undefined;
}

export interface PanelFacts {
  readonly facts: SessionFacts;
  readonly rules: ReplyOf<"ListRules">["result"];
  readonly words: readonly SlashCommand[];
}

/** A turn that has ended. */
export interface TurnRow {
  readonly turn: TurnId;
  /** Counted from 1. */
  readonly number: number;
  readonly input: string;
  readonly outcome: string;
  readonly ts: string;
}

/** Turns that are listed, the newest ones. */
const MAX_TURNS = 500;

async function turnsOf(session: Pick<LoadWorld["session"], "log">): Promise<readonly TurnRow[]> {
  const rows: TurnRow[] = [];
  let number = 0;
  let input = "";
  for await (const { kind, payload, ts } of session.log()) {
    if (kind === "TurnStarted") input = textOf(payload.content);
    if (kind !== "TurnEnded") continue;
    number += 1;
    rows.push({ turn: payload.turn, number, input, outcome: payload.outcome, ts });
    if (rows.length > MAX_TURNS) rows.shift();
  }
  return rows;
}

function textOf(content: EventOf<"TurnStarted">["payload"]["content"]): string {
  return displayText(content, " ");
}

/** A branch has a parent as well; a delegate was opened by a call of its parent. */
async function isOfDelegate({ client }: LoadWorld, { id, parent }: SessionInfo): Promise<boolean> {
  if (parent === undefined) return false;
  for await (const first of client.session(id).log()) {
    return first.kind === "SessionStarted" && first.payload.call_id !== undefined;
  }
  return false;
}

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

/** `signal` cancels what can take long. */
export async function runLoad(
  world: LoadWorld,
  { name, argument = "" }: LoadEffect,
  signal: AbortSignal,
): Promise<Loaded> {
  const value = await loads[name](world, argument, signal);
  return { type: "loaded", name, argument, value } as Loaded; // the row that was named gave the value
}
