/** The engine in this very process. Its parts are named by what the client needs of them, so that no engine comes with the client. */
import { defined } from "#base";
import {
  type ClientId,
  type CommandKind,
  type CommandOf,
  type Event,
  type OpenedSession,
  ReasonError,
  type ReplyOf,
  type SessionId,
  type SessionInfo,
  type SlashCommand,
  type StoredSession,
  sessionInfoOf,
} from "#protocol";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import type { LogPage, Transport } from "./transport.ts";

/** What `Harness` has. */
export interface LocalEngine {
  slashCommands(session?: SessionId): readonly SlashCommand[];
  readonly control: {
    connect(options: {
      readonly identityClass: "human" | "agent";
      readonly interactive: boolean;
      readonly onEvent?: (event: Event) => void;
      readonly ready?: () => Promise<void> | undefined;
      readonly id?: ClientId;
    }): LocalClient;
    sessions(): readonly OpenedSession[];
    session(id: SessionId): unknown;
    prepare(id: SessionId): Promise<void>;
  };
  readonly store: {
    get(id: SessionId): Promise<StoredSession | undefined>;
    list(options: { readonly limit: number; readonly workingDir?: string }): Promise<readonly StoredSession[]>;
    read(id: SessionId, page: LogPage): Promise<readonly Event[]>;
  };
}

interface LocalClient {
  readonly id: ClientId;
  submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<ReplyOf<Kind>>;
  disconnect(): void;
}

const LIST_LIMIT = 100;

export interface LocalTransportOptions {
  readonly engine: LocalEngine;
  readonly identityClass: "human" | "agent";
  /** False when nobody can be asked. */
  readonly interactive: boolean;
  /** Whoever opens a session loops over its events, and is attached to it from the first one on. */
  readonly followsOwn?: boolean;
}

/** A connection that is told of events. */
interface Reader {
  readonly connection: LocalClient;
  readonly mailbox: Mailbox;
}

export function createLocalTransport(options: LocalTransportOptions): Transport {
  const { engine, identityClass, interactive } = options;
  const { control, store } = engine;
  const sender = control.connect({ identityClass, interactive });
  /** Of sessions that were opened here, until somebody takes it. */
  const opened = new Map<SessionId, Reader>();

  function openReader(): Reader {
    const mailbox = createMailbox();
    const connection = control.connect({
      id: sender.id,
      identityClass,
      interactive,
      onEvent: (event) => mailbox.push(event),
      ready: () => mailbox.room(),
    });
    return { connection, mailbox };
  }

  async function submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<ReplyOf<Kind>> {
    if (command.kind !== "CreateSession" || options.followsOwn !== true) return sender.submit(command);
    const reader = openReader();
    const reply = await reader.connection.submit(command);
    if ("session" in reply) opened.set(reply.session, reader);
    return reply;
  }

  function infoOf(meta: StoredSession): SessionInfo {
    return sessionInfoOf(
      meta,
      control.sessions().find(({ id }) => id === meta.id),
    );
  }

  async function metaOf(id: SessionId): Promise<StoredSession> {
    const meta = await store.get(id);
    if (meta === undefined) throw new ReasonError("SessionNotFound", { session: id });
    return meta;
  }

  async function* events(id: SessionId, since: number, signal: AbortSignal, onOpen: () => void): AsyncGenerator<Event> {
    const own = opened.get(id);
    opened.delete(id);
    const { mailbox, connection } = own ?? openReader();
    const stop = (): void => mailbox.end();
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (own === undefined && control.session(id) === undefined) {
        await metaOf(id);
        await control.prepare(id);
      }
      onOpen();
      if (own === undefined) {
        // Not awaited: the replay goes at the pace of the reader.
        connection.submit({ kind: "AttachSession", session: id, since }).catch((error: unknown) => mailbox.end(error));
      }
      if (signal.aborted) stop();
      yield* mailbox.take();
    } finally {
      signal.removeEventListener("abort", stop);
      connection.disconnect();
      mailbox.end();
    }
  }

  return {
    address: "this process",
    clientId: () => sender.id,
    tokenMayChange: false,
    events,
    async shakeHands() {
      const { buildHandshake } = await import("#protocol/schemas");
      return buildHandshake(["inproc"], sender.id);
    },
    submit,
    async sessions({ workingDir, limit = LIST_LIMIT }) {
      const metas = await store.list({ limit, ...defined({ workingDir }) });
      return metas.map(infoOf);
    },
    slashCommands: async (session) => engine.slashCommands(session),
    session: async (id) => infoOf(await metaOf(id)),
    log: (id, page) => store.read(id, page),
    async close() {
      for (const { connection } of opened.values()) connection.disconnect();
      sender.disconnect();
    },
  };
}
