/** The engine in this very process. Its parts are named by what the client needs of them, so that no engine comes with the client. */
import { defined } from "#base";
import {
  type ClientId,
  type CommandKind,
  type CommandOf,
  type Event,
  type Handshake,
  type OpenedSession,
  ReasonError,
  type ReplyOf,
  type SessionId,
  type SessionInfo,
  type StoredSession,
  sessionInfoOf,
} from "#protocol";
import { createMailbox } from "./mailbox.ts";
import type { LogPage, Transport } from "./transport.ts";

/** What `Harness` has. */
export interface LocalEngine {
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
  /** Made where the tables of the protocol are. */
  readonly handshake: () => Handshake | Promise<Handshake>;
}

export function createLocalTransport({ engine, identityClass, handshake }: LocalTransportOptions): Transport {
  const { control, store } = engine;
  const sender = control.connect({ identityClass, interactive: false });

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
    const mailbox = createMailbox();
    const reader = control.connect({
      id: sender.id,
      identityClass,
      interactive: true,
      onEvent: (event) => mailbox.push(event),
      ready: () => mailbox.room(),
    });
    const stop = (): void => mailbox.end();
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (control.session(id) === undefined) {
        await metaOf(id);
        await control.prepare(id);
      }
      onOpen();
      // Not awaited: the replay goes at the pace of the reader.
      reader.submit({ kind: "AttachSession", session: id, since }).catch((error: unknown) => mailbox.end(error));
      if (signal.aborted) stop();
      yield* mailbox.take();
    } finally {
      signal.removeEventListener("abort", stop);
      reader.disconnect();
      mailbox.end();
    }
  }

  return {
    address: "this process",
    tokenMayChange: false,
    events,
    async shakeHands() {
      return { ...(await handshake()), client: sender.id };
    },
    submit: (command) => sender.submit(command),
    async sessions({ workingDir, limit = LIST_LIMIT }) {
      const metas = await store.list({ limit, ...defined({ workingDir }) });
      return metas.map(infoOf);
    },
    session: async (id) => infoOf(await metaOf(id)),
    log: (id, page) => store.read(id, page),
    async close() {
      sender.disconnect();
    },
  };
}
