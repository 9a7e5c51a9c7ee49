/** What one row of the route table says, and what its handler gets. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TokenDesk } from "#auth";
import type { Control, OpenSessionState } from "#control";
import type { SessionMeta, SessionStore, Tool } from "#engine";
import type { CommandKind, Event, SessionId } from "#protocol";
import type { Principal } from "./principal.ts";

/** What the server is put on. Everything that changes something goes through `control`; the rest reads. */
export interface HttpBackend {
  readonly control: Control;
  readonly store: Pick<SessionStore, "get" | "list" | "read">;
  readonly version: string;
  /** A text without its secrets: messages of refusals are not events, which are clean already. */
  readonly clean: (text: string) => string;
  /** The same for a value that becomes JSON. */
  readonly cleanValue: <Value>(value: Value) => Value;
  /** For one walk through the log of a session: events as they may be told today. */
  readonly replayed: () => (event: Event) => Event;
  /** How parts of the program are that are not the server's own. */
  subsystems(): Promise<Readonly<Record<string, object>>>;
  tools(): readonly Tool[];
  /** MCP servers and how they are. */
  servers(): readonly Readonly<Record<string, unknown>>[];
  /** Prompts that the daemon sends at set times, without the prompts. */
  schedules(): Promise<readonly object[]>;
  profiles(session?: SessionId): Promise<readonly object[]>;
  providers(): readonly Readonly<Record<string, unknown>>[];
  /** What people can type: in this session, or in any. Throws SessionNotFound for one that is not open. */
  slashCommands(session?: SessionId): readonly Readonly<Record<string, unknown>>[];
  /** Pieces of text. */
  exportSession(meta: SessionMeta, format: "jsonl" | "markdown"): AsyncIterable<string>;
  branch(session: SessionId, at: number | undefined): Promise<Readonly<Record<string, unknown>>>;
}

export interface RouteCall {
  readonly backend: HttpBackend;
  /** Throws TokenRequired for a route that is open. */
  readonly principal: Principal;
  /** Who asks, for limits on failures. */
  readonly source: string;
  /** Absent where no tokens are made. */
  readonly desk: TokenDesk | undefined;
  /** After a long wait: throws when the token was revoked meanwhile. One that has only ended may have its answer. */
  recheckToken(): Promise<void>;
  /** Ends streams whose token was revoked just now. */
  recheckStreams(): Promise<void>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  /** The body as an object; empty for a route without one. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The session that `{id}` names; throws InvalidCommand when it is not an id. */
  session(): SessionId;
  /** Opens a stored session that is not open. Throws SessionNotFound. */
  ensureOpen(session: SessionId): Promise<void>;
  /** The session of requests that name none. */
  defaultSession(): Promise<SessionId>;
  /** Takes over the response. */
  streamEvents(session: SessionId, wire: "sse" | "plain"): Promise<void>;
  readonly health: () => Promise<Readonly<Record<string, unknown>>>;
  readonly openSessions: () => ReadonlyMap<SessionId, OpenSessionState>;
}

/** `taken`: the handler has answered on the response itself. */
export type Answer =
  | { readonly status: number; readonly body?: unknown }
  | { readonly text: AsyncIterable<string>; readonly type: string }
  | "taken";

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `{id}` where an id stands. */
  readonly path: string;
  readonly summary: string;
  /** The commands that it becomes. The fields of the first, without kind and session, are the body. */
  readonly commands?: readonly CommandKind[];
  /** False: may be called before the handshake. */
  readonly handshake: boolean;
  /** Needs no token, and is served on the Unix socket alone. */
  readonly isOpen?: true;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON Schema of the body, where it is not that of the first command. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly answers: Readonly<Record<number, string>>;
  /** Media type of a good answer when it is not JSON. */
  readonly type?: string;
  handle(call: RouteCall): Promise<Answer>;
}
