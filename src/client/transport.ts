/**
 * What a client needs of a wire. A transport is one connection, or what stands for one; it does not try again by itself, except
 * where it knows that the server has not begun with what it was asked. Lost connections are `ServerUnreachable` (nothing was sent)
 * and `ConnectionLost` (something was); everything else that it throws is what the server has said.
 */
import type {
  ClientId,
  CommandKind,
  CommandOf,
  Event,
  Handshake,
  ReplyOf,
  SessionId,
  SessionInfo,
  SlashCommand,
} from "#protocol";

export interface LogPage {
  /** Events with a higher id. */
  readonly after: number;
  readonly limit: number;
}

export interface SessionFilter {
  readonly workingDir?: string;
  /** Default 100. */
  readonly limit?: number;
}

export interface Transport {
  /** For messages. */
  readonly address: string;
  /** As which client the server knows this one; another one after the server was started again. */
  clientId(): ClientId | undefined;
  /** Says hello; again after the server is another one. */
  shakeHands(signal: AbortSignal): Promise<Handshake>;
  submit<Kind extends CommandKind>(command: CommandOf<Kind>, signal: AbortSignal): Promise<ReplyOf<Kind>>;
  sessions(filter: SessionFilter, signal: AbortSignal): Promise<readonly SessionInfo[]>;
  /** Without a session: those of any. */
  slashCommands(session: SessionId | undefined, signal: AbortSignal): Promise<readonly SlashCommand[]>;
  session(id: SessionId, signal: AbortSignal): Promise<SessionInfo>;
  log(id: SessionId, page: LogPage, signal: AbortSignal): Promise<readonly Event[]>;
  /**
   * Events of the log with an id above `since`, then those that happen, until the connection ends, the reader falls too far behind
   * or `signal` aborts. May come twice or with holes: the caller goes by the ids. Opens a stored session that is not open.
   * `onOpen` is called when the server has agreed.
   */
  events(id: SessionId, since: number, signal: AbortSignal, onOpen: () => void): AsyncIterable<Event>;
  /** Whether the token can be another one the next time, so that a refusal for its sake may pass. */
  readonly tokenMayChange: boolean;
  close(): Promise<void>;
}
