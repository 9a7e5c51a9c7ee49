/** A file that comes to wait for an ack while a session runs, reviewed in the terminal as at a start. */
import type { EngineClient } from "#client";
import type { WaitingFile } from "#program";
import type { CommandOf, EventOf } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { QuestionScreen } from "./terminal.ts";

/** What the person answers; undefined when it was settled elsewhere. */
export type AckQuestion = (
  screen: QuestionScreen,
  event: EventOf<"AckRequested">,
  settled: AbortSignal,
) => Promise<CommandOf<"AnswerAck">["answer"] | undefined>;

export function ackQuestion(
  ports: Pick<CliPorts, "env" | "clock">,
  client: Pick<EngineClient, "session">,
): AckQuestion {
  return async (screen, { session, payload }, settled) => {
    const { reviewFile } = await import("./ack-review.ts");
    const { call_id, acked, denied_at: deniedAt, class: kind, change_class, parts = [] } = payload;
    const { result } = await client.session(session).submit({ kind: "DescribeAck", call_id });
    const waiting = {
      ...{ file: payload.file, kind, change: payload.change, text: result.text, hash: payload.sha256, deniedAt },
      acked: acked && { ...acked, text: result.acked_text },
      changed: change_class === undefined ? undefined : { class: change_class, parts },
    } as WaitingFile; // the engine of another version may name a kind that is not known here
    const answer = await reviewFile(ports, screen, waiting, "in this session", settled);
    if (settled.aborted) return undefined;
    return answer === "quit" ? "later" : answer;
  };
}
