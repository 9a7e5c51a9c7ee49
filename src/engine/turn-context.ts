/**
 * What joins a turn besides its input, such as memories and the context sources of a project. Whoever decides about it gets the
 * conversation, and calls whose permission nobody is asked for.
 */
import type { IdMint, Message, SessionId, TurnId } from "#protocol";
import type { Conversation } from "./conversation.ts";
import type { MentioningInput } from "./mentions.ts";
import type { NestedCall } from "./run-tool.ts";
import { checkingCall } from "./stop-check.ts";
import type { CallResult, UnaskedCall } from "./tool-chain.ts";

export interface JoinedTurn {
  readonly turn: TurnId;
  readonly content: MentioningInput["content"];
  /** The conversation so far, the input included. */
  readonly history: readonly Message[];
  readonly signal: AbortSignal;
  /** Through the whole chain. Where the call would need an answer, it is refused. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    unasked: UnaskedCall,
    timeoutMs: number,
  ): Promise<CallResult>;
}

/** Called once for each turn, behind its input. What it rejects with ends the turn. */
export type JoinTurn = (turn: JoinedTurn) => Promise<void>;

export function createTurnJoin(parts: {
  readonly session: SessionId;
  readonly ids: Pick<IdMint, "call">;
  readonly nested: NestedCall;
  readonly conversation: Pick<Conversation, "messages">;
  readonly join: JoinTurn;
}): (input: MentioningInput) => Promise<void> {
  const { session, ids, nested, conversation, join } = parts;
  return async ({ content, ...at }) => {
    const around = checkingCall({ ...at, text: "", calls: [] }, session, ids.call(), 0);
    const { turn, signal } = at;
    await join({
      ...{ turn, signal, content, history: conversation.messages() },
      call: (name, args, unasked, timeoutMs) => nested(around, name, args, { timeoutMs, unasked }),
    });
  };
}
