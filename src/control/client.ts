/** A client as the control knows it: who it is, how it is told, and what it gets back for a command. */
import type { InputToken, TurnSummary } from "#engine";
import type { ClientId, ClientTransport, CommandKind, CommandOf, Event, ReplyOf, SessionId } from "#protocol";

export interface ClientOptions {
  readonly identityClass: "human" | "agent";
  /** False when nobody can be asked: requests are then denied at once. */
  readonly interactive: boolean;
  /** How it reaches the control; default: in this process. */
  readonly transport?: ClientTransport;
  /** What it calls itself, for people. */
  readonly name?: string;
  /** Absent for a client that only sends: it is attached to nothing. */
  readonly onEvent?: (event: Event) => void;
  /** Asked before each event of a replay, which comes no faster than the client takes it: undefined, or what to wait for. */
  readonly ready?: () => Promise<void> | undefined;
  /** What a replay of the log passes before it is told; asked for once for each. Default: it is told as it was stored. */
  readonly replayed?: () => (event: Event) => Event;
  /** Of a client that has several connections; default: a new one. */
  readonly id?: ClientId;
  /** What it may do rests on it: an input that has to wait begins only while it holds. */
  readonly token?: InputToken;
  /**
   * Throws TokenScope. Asked by a command that does more than its kind says: a slash command that reads or opens other sessions.
   * Absent: the client may do everything.
   */
  readonly allow?: (kind: CommandKind, session?: SessionId) => void;
}

/** What the sender gets back in this process; what is on the wire is `ReplyOf`. */
export type Reply<Kind extends CommandKind> = {
  [K in Kind]: ReplyOf<K> & (K extends "SendInput" | "RunShellCommand" | "CompactSession" ? StartedTurn : unknown);
}[Kind];

interface StartedTurn {
  /** Settles when the turn has ended. */
  readonly done: Promise<TurnSummary>;
}

export interface ControlClient {
  readonly id: ClientId;
  /** For a client that says later what it calls itself. */
  rename(name: string): void;
  /**
   * Resolves when the log has what the command did, synced: whoever is told of it can rely on it, whatever becomes of the program.
   * Rejects with a ReasonError that says why the command was refused, or with StoreFailed.
   */
  submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<Reply<Kind>>;
  /** Detaches from everything; running turns go on. */
  disconnect(): void;
}

export interface Client extends Omit<ClientOptions, "name"> {
  readonly id: ClientId;
  name?: string;
}
