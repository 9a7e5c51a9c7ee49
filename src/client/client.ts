/** A client and its sessions, the same over every transport. */
import { defined, type Random } from "#base";
import {
  type CallId,
  type CommandKind,
  type CommandOf,
  type Decision,
  type Event,
  forSession,
  type Handshake,
  type InputBlock,
  ReasonError,
  type ReplyOf,
  type SessionCommandKind,
  type SessionCommandOf,
  SessionId,
  type SessionInfo,
  type SlashCommand,
  type TurnId,
} from "#protocol";
import type { ClientClock } from "./client-host.ts";
import { followEvents } from "./follow.ts";
import { mayPass, wasNotBegun } from "./refusal.ts";
import { type ReconnectOptions, retrying } from "./retry.ts";
import type { LogPage, SessionFilter, Transport } from "./transport.ts";
import { lastOf } from "./wire-shapes.ts";

/** With its program, or because nobody used it. */
const ENDED_BY_NOBODY: ReadonlySet<string> = new Set(["binary-shutdown", "idle"]);
/** Pages of the log that are read at a time. */
const LOG_PAGE = 500;

export type Input = string | readonly InputBlock[];

/** Of commands for a session; who listens to it is what `events` is for. */
type SubmittedKind = Exclude<SessionCommandKind, "AttachSession" | "DetachSession">;

/** A command for a session without the session, for those that have no method of their own. */
export type SessionCommand = { [Kind in SubmittedKind]: SessionCommandOf<Kind> }[SubmittedKind];

export interface OpenOptions {
  /** Absolute; default: the server's own. */
  readonly workingDir?: string;
  /** `provider:name`. */
  readonly model?: string;
  readonly profile?: string;
  readonly context?: NonNullable<CommandOf<"CreateSession">["context"]>;
}

export interface EventsOptions {
  /** Events with a higher id first; 0 is all of them. Default: only what happens from now on. */
  readonly since?: number;
  /** Ends the loop. */
  readonly signal?: AbortSignal;
  /** The connection is gone, or there again. Nothing is lost meanwhile. */
  readonly onConnection?: (state: "connected" | "lost") => void;
}

export interface ClientSession {
  readonly id: SessionId;
  /** Starts a turn. Resolves when the log has the input. Rejects with TurnInProgress while one runs. */
  send(input: Input): Promise<{ readonly turn: TurnId }>;
  /** Kept in the log until the running turn has ended. */
  queue(input: Input): Promise<void>;
  /** Told to the running turn. Rejects with NoTurnRunning. */
  steer(input: Input): Promise<void>;
  /** Resolves when the turn was told to stop; its end is an event. */
  cancel(): Promise<void>;
  /** A PermissionRequested. Resolves when the log has the answer, also as an AnswerTooLate when somebody was first. Rejects with CallNotFound for a call that nobody was asked about. */
  answer(callId: CallId, decision: Decision, reason?: string): Promise<void>;
  /** A QuestionAsked. Resolves when the log has the answer. */
  answerQuestion(callId: CallId, answer: string): Promise<void>;
  setModel(model: string): Promise<void>;
  /** Any other command. */
  submit<Kind extends SubmittedKind>(command: SessionCommandOf<Kind>): Promise<ReplyOf<Kind>>;
  /** Closes the session; its log stays. */
  end(): Promise<void>;
  info(): Promise<SessionInfo>;
  /** What people can type in it, while it is open: with its skills, agents, servers and commands. */
  slashCommands(): Promise<readonly SlashCommand[]>;
  /**
   * Each event once and in order, over any number of connections, until the session ends. It begins with the call: what is sent
   * after it is seen. Kinds that this build does not know
   * come as well: have a default. Questions of delegates come with the session of the delegate.
   */
  events(options?: EventsOptions): AsyncGenerator<Event, void, undefined>;
  /** The events of the log as they are now. */
  log(options?: { readonly after?: number }): AsyncGenerator<Event, void, undefined>;
}

export interface Client extends EngineClient {
  readonly handshake: Handshake;
  /** Whether the server can do something that not every server can. */
  has(feature: string): boolean;
}

/** One of an engine of the same build, which needs no handshake. */
export interface EngineClient extends AsyncDisposable {
  /** For messages. */
  readonly address: string;
  /** Whether this client has sent the input that the event belongs to. */
  isOwn(event: Pick<Event, "originator">): boolean;
  /** Newest first. */
  sessions(filter?: SessionFilter): Promise<readonly SessionInfo[]>;
  /** What people can type in any conversation; a session has more. */
  slashCommands(): Promise<readonly SlashCommand[]>;
  /** A new one. */
  open(options?: OpenOptions): Promise<ClientSession>;
  /** One of the log, opened again when it is not open. */
  resume(id: string): Promise<ClientSession>;
  /** One by its id. Asks nobody. Throws SessionNotFound when the text is not the id of a session. */
  session(id: string): ClientSession;
  /** A command for any session. */
  submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<ReplyOf<Kind>>;
  close(): Promise<void>;
}

export interface ClientParts {
  readonly transport: Transport;
  readonly clock: ClientClock;
  readonly random: Random;
  readonly reconnect: ReconnectOptions;
  /** Ends everything that the client does. */
  readonly signal: AbortSignal;
}

/** Resolves when hands are shaken; tries once. */
export async function createClient(parts: ClientParts): Promise<Client> {
  const client = createEngineClient(parts);
  const handshake = await parts.transport.shakeHands(parts.signal).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  return { ...client, handshake, has: (feature) => handshake.features.includes(feature) };
}

/** Without a handshake. */
export function createEngineClient(parts: ClientParts): EngineClient {
  const { transport, reconnect } = parts;
  const closed = new AbortController();
  const signal = AbortSignal.any([parts.signal, closed.signal]);
  const { tokenMayChange } = transport;

  function reading<Result>(work: () => Promise<Result>): Promise<Result> {
    return retrying(parts, reconnect, signal, mayPass(tokenMayChange), work);
  }

  function submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<ReplyOf<Kind>> {
    return retrying(parts, reconnect, signal, wasNotBegun(tokenMayChange), () => transport.submit(command, signal));
  }

  /** A session that is not open any more, and that nobody has ended, is opened again; the command was refused, not lost. */
  function submitTo<Kind extends CommandKind>(session: SessionId, command: CommandOf<Kind>): Promise<ReplyOf<Kind>> {
    return whileOpen(session, () => submit(command));
  }

  async function whileOpen<Result>(session: SessionId, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isClosed(error)) throw error;
      const found = await info(session);
      // A loop, or somebody else, can have opened it in between.
      const isOpen = found.activity !== undefined && found.activity !== "ending";
      if (!isOpen && !(await wasLeft(session, found))) throw error;
      if (!isOpen) await submit({ kind: "CreateSession", resume: session });
      return work();
    }
  }

  async function wasLeft(session: SessionId, { state, last_event_id: last }: SessionInfo): Promise<boolean> {
    const [end] = await page(session, { after: Math.max(0, last - 1), limit: 1 });
    if (end?.kind !== "SessionEnded") return state === "active";
    return ENDED_BY_NOBODY.has(end.payload.reason);
  }

  function info(id: SessionId): Promise<SessionInfo> {
    return reading(() => transport.session(id, signal));
  }

  function page(id: SessionId, wanted: LogPage): Promise<readonly Event[]> {
    return reading(() => transport.log(id, wanted, signal));
  }

  function sessionOf(id: SessionId): ClientSession {
    /** Where loops begin that have been asked for: whoever listens first and then sends sees what that brings about. */
    let listening: Promise<unknown> = Promise.resolve();
    async function to<Kind extends SubmittedKind>(command: SessionCommandOf<Kind>): Promise<ReplyOf<Kind>> {
      await listening;
      return submitTo(id, forSession(id, command));
    }
    /** Known before the first connection, so that a cut before the first event loses nothing. */
    function beginning(): Promise<number> {
      const from = info(id).then(({ last_event_id }) => last_event_id);
      listening = Promise.allSettled([listening, from]);
      return from;
    }
    return {
      id,
      submit: to,
      async send(input) {
        const { turn } = await to({ kind: "SendInput", content: blocksOf(input) });
        return { turn };
      },
      queue: async (input) => void (await to({ kind: "QueueInput", content: blocksOf(input) })),
      steer: async (input) => void (await to({ kind: "SteerTurn", content: blocksOf(input) })),
      cancel: async () => void (await to({ kind: "CancelTurn" })),
      async answer(call_id, decision, reason) {
        await to({ kind: "AnswerPermission", call_id, decision, ...defined({ reason }) });
      },
      async answerQuestion(call_id, answer) {
        await to({ kind: "AnswerQuestion", call_id, answer });
      },
      setModel: async (model) => void (await to({ kind: "SetModel", model })),
      end: async () => void (await to({ kind: "EndSession" })),
      info: () => info(id),
      slashCommands: () => whileOpen(id, () => reading(() => transport.slashCommands(id, signal))),
      events({ since, signal: given, onConnection } = {}) {
        const stop = given === undefined ? signal : AbortSignal.any([signal, given]);
        const from = since ?? beginning();
        return (async function* () {
          yield* followEvents({ ...parts, session: id, since: await from, signal: stop, onConnection });
        })();
      },
      async *log({ after = 0 } = {}) {
        for (let last = after; ; ) {
          const events = await page(id, { after: last, limit: LOG_PAGE });
          if (events.length === 0) return;
          last = lastOf(events, last, transport.address);
          yield* events;
        }
      },
    };
  }

  async function close(): Promise<void> {
    closed.abort(new ReasonError("Cancelled"));
    await transport.close();
  }

  return {
    address: transport.address,
    isOwn: ({ originator }) => originator !== undefined && originator === transport.clientId(),
    sessions: (filter = {}) => reading(() => transport.sessions(filter, signal)),
    slashCommands: () => reading(() => transport.slashCommands(undefined, signal)),
    async open({ workingDir, model, profile, context } = {}) {
      const { session } = await submit({
        kind: "CreateSession",
        ...defined({ working_dir: workingDir, model, profile, context }),
      });
      return sessionOf(session);
    },
    async resume(text) {
      const id = sessionIdOf(text);
      await submit({ kind: "CreateSession", resume: id });
      return sessionOf(id);
    },
    session: (id) => sessionOf(sessionIdOf(id)),
    submit,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A program has the ids of its sessions from an argument, a file or a database: as texts. */
function sessionIdOf(text: string): SessionId {
  if (!SessionId.is(text)) throw new ReasonError("SessionNotFound", { session: text.slice(0, 100) });
  return text;
}

function blocksOf(input: Input): InputBlock[] {
  return typeof input === "string" ? [{ type: "text", text: input }] : [...input];
}

function isClosed(error: unknown): boolean {
  return error instanceof ReasonError && (error.reason === "SessionClosed" || error.reason === "SessionNotFound");
}
