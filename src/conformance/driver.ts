/**
 * What scenarios speak: a client of a session, whatever the wire. A driver turns each call into what its wire has for it and what it
 * sees back into sightings; it judges nothing.
 */
import type { Event, EventKind } from "#protocol";

export const wires = ["in-process", "rest", "ws", "plain", "rpc"] as const;
export type Wire = (typeof wires)[number];

/** Who is at the other end: people and an agent that the server knows, somebody with a token it does not know, somebody without one. */
export const callers = ["human", "other human", "agent", "stranger", "nobody"] as const;
export type Caller = (typeof callers)[number];

/** What came of a request. */
export interface Answer {
  readonly ok: boolean;
  /** Why not: a reason of the protocol, or the name of an error of the wire. */
  readonly reason?: string;
  /** HTTP status, close code of a web socket or code of a JSON-RPC error. */
  readonly status?: number;
  readonly session?: string;
  readonly turn?: string;
  /** As it came. */
  readonly body: unknown;
}

/** One thing seen on the stream of a session, by the name that the protocol has for it. */
export interface Sighting {
  readonly kind: string;
  /** Where the wire tells it. */
  readonly id?: number;
  readonly callId?: string;
  readonly text?: string;
  /** The canonical event, on wires that carry it. */
  readonly event?: unknown;
  /** As it came. */
  readonly raw: unknown;
}

export interface Feed {
  readonly seen: readonly Sighting[];
  /** Kinds that the wire has a form for; undefined: all. */
  readonly carried: ReadonlySet<EventKind> | undefined;
  /** The first that fits, now or when it comes. Rejects when it does not come in time, or the stream ends before. */
  until(fits: (sighting: Sighting) => boolean, what: string): Promise<Sighting>;
  /** A sign of life that is no event, now or when it comes. */
  heartbeat(): Promise<void>;
  /** Stops and goes on reading. */
  pause?(): void;
  resume?(): void;
  stop(): Promise<void>;
}

export interface Connection {
  handshake(version?: string): Promise<Answer>;
  create(fields?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** An input of one text. */
  send(session: string, text: string): Promise<Answer>;
  cancel(session: string): Promise<Answer>;
  /** Any other command, by the fields it has in the protocol. */
  submit(session: string, command: { readonly kind: string } & Readonly<Record<string, unknown>>): Promise<Answer>;
  /** With `since`: what the log has after that event, first. */
  watch(session: string, since?: number): Promise<Feed>;
  /** The whole log. */
  log(session: string): Promise<readonly Event[]>;
  /** Bytes in the place of an input for the session. */
  raw?(session: string, bytes: Uint8Array): Promise<Answer>;
  readonly http?: HttpPeer;
  readonly frames?: FramePeer;
  readonly lines?: LinePeer;
  close(): Promise<void>;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** Undefined when the text is not JSON. */
  readonly json: unknown;
}

/** Requests as they are, for what only HTTP has. */
export interface HttpPeer {
  ask(method: string, path: string, asked?: HttpAsked): Promise<HttpReply>;
  /** A request as bytes on a connection of its own; what came back until the server closed it. */
  exchange(head: readonly string[]): Promise<string>;
  /** What a Host header has to be. */
  readonly host: string;
}

export interface HttpAsked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the caller's own; null: none. */
  readonly token?: string | null;
}

/** Frames as they are, for what only web sockets have. Each call has a socket of its own. */
export interface FramePeer {
  /** Sends frames in order; resolves with what came back by the time `enough` says so, or the socket was closed. */
  converse(
    frames: readonly unknown[],
    enough: (received: readonly unknown[]) => boolean,
  ): Promise<{ readonly received: readonly unknown[]; readonly closed?: number }>;
}

/** Lines as they are, for what only JSON-RPC on pipes has. */
export interface LinePeer {
  request(method: string, params?: unknown): Promise<Answer>;
  write(text: string | Uint8Array): void;
  /** The first message that fits, now or when it comes. */
  until(fits: (message: Readonly<Record<string, unknown>>) => boolean, what: string): Promise<Record<string, unknown>>;
  /** Everything that stood on standard output, line by line. */
  readonly output: readonly string[];
  /** Closes standard input; the exit code. */
  end(): Promise<number | null>;
  /** Ends the program without notice. */
  kill(): void;
}

/** Something that is tried on one wire. What it cannot do is absent, and what needs it is not applicable. */
export interface Target {
  readonly wire: Wire;
  connect(as?: Caller): Promise<Connection>;
  /** Undefined, or why nobody can call in this role. */
  lacks(as: Caller): string | undefined;
  /** Stops it without notice and starts it again on the same log; connections are gone then. */
  restart?(): Promise<void>;
  /** The content of all that is in the log passes its time. */
  expireContent?(): Promise<void>;
  /** The token of this role passes its time. */
  expireToken?(as: Caller): Promise<void>;
  /** A client with a token that was made on the way. */
  withToken?(token: string): Promise<Connection>;
  /** The same server on an address that other machines can reach. */
  readonly lan?: HttpPeer;
  /** Time goes by on the side of the server. */
  passTime?(ms: number): Promise<void>;
}
