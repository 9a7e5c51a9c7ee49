/** The request chain: middleware fills an empty request on its way down to the provider. */
import type { Handler, Middleware } from "#base";
import type { ClientId, Message, SessionId, TextBlock, TurnId } from "#protocol";
import type { ModelCall, ModelOutcome } from "./provider.ts";
import type { Tool } from "./tool.ts";

export interface RequestCall extends ModelCall {
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly step: number;
  /** The client whose input started the turn. */
  readonly originator: ClientId;
  /** The conversation so far. */
  readonly history: readonly Message[];
  /** What every request has to say, also where the part of the history that says it is left out. */
  readonly pinned: readonly TextBlock[];
  /** What the model may call at this step. */
  readonly tools: readonly Tool[];
  /** Told how long the provider itself took, so that the time of the chain can be told apart. */
  readonly onChat: (durationMs: number) => void;
}

export type RequestHandler = Handler<RequestCall, ModelOutcome>;
export type RequestMiddleware = Middleware<RequestCall, ModelOutcome>;
