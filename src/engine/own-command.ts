/**
 * `!command` of a person: a turn without the model. The command is a call of `exec` through the whole chain, so that policy, limits,
 * records and undo hold as for the agent's calls. Its output joins the conversation as untrusted content, which the next turn reads.
 */
import type { ClientId, IdMint, SessionId, TurnId } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { InnerCalls } from "./inner-calls.ts";
import { checkingCall } from "./stop-check.ts";
import type { CallResult } from "./tool-chain.ts";
import { cancelledEnding, type Ending } from "./turn-ending.ts";

export type RunOwnCommand = (run: {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly command: string;
  /** Aborted with a `CancelCause` as its reason. */
  readonly signal: AbortSignal;
}) => Promise<Ending>;

export function createOwnCommands(parts: {
  readonly session: SessionId;
  readonly bus: Pick<EventBus, "publish">;
  readonly ids: Pick<IdMint, "call">;
  readonly ofPerson: InnerCalls["ofPerson"];
}): RunOwnCommand {
  const { session, bus, ids, ofPerson } = parts;
  return async ({ command, ...at }) => {
    const { turn, originator: by, signal } = at;
    const around = checkingCall({ ...at, step: 1, text: "", calls: [] }, session, ids.call(), 0);
    const result = await ofPerson(around, "exec", { command });
    if (result.endsTurn !== undefined) throw result.endsTurn;
    await bus.publish("ContextAdded", { turn, origin: "command", what: command, content: [...result.content], by });
    return signal.aborted ? cancelledEnding(signal) : endOf(result);
  };
}

/** A command that ran and failed is an answer; one that could not run is not. */
function endOf({ outcome, reason, content }: CallResult): Ending {
  if (outcome === "ok" || reason === undefined || reason === "ToolFailed" || reason === "ToolTimeout") {
    return { outcome: "answered" };
  }
  const message = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return { outcome: "error", reason, message };
}
