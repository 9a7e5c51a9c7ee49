/** Inputs to a daemon that may die while it takes one: what it has certainly not taken is sent again, once. */
import { visibleLine } from "#base";
import type { ClientSession, EngineClient, Input } from "#client";
import type { DaemonRevival } from "#daemon";
import { type Reason, ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { SessionView } from "./session-view.ts";

export interface AttachedParts {
  readonly ports: CliPorts;
  readonly client: EngineClient;
  readonly session: ClientSession;
  readonly view: Pick<SessionView, "lastEvent">;
  /** Absent where the daemon is not ours to start. */
  readonly revival: Pick<DaemonRevival, "process"> | undefined;
  readonly left: AbortSignal;
}

/** `input` is what `send` sends. */
type Resend = (input: Input, send: () => Promise<unknown>) => Promise<void>;

export function createResend({ ports, session, view, revival }: AttachedParts): Resend {
  /** Of an input that may have been begun with when the connection went: its daemon is dead, and the log has no input since. */
  async function wasNotTaken(process: string | undefined, since: number): Promise<boolean> {
    // Answered by whoever is the daemon then.
    await session.info();
    if (process === undefined || revival?.process() === process) return false;
    for await (const { kind } of session.log({ after: since })) {
      if (kind === "TurnStarted" || kind === "InputQueued") return false;
    }
    return true;
  }

  return async (input, send) => {
    const [process, since] = [revival?.process(), view.lastEvent];
    try {
      await send().catch(async (error: unknown) => {
        if (!hasReason(error, "ConnectionLost") || !(await wasNotTaken(process, since))) throw error;
        return send();
      });
    } catch (error) {
      const { terminal } = ports;
      const text = inputText(input);
      if (hasReason(error, "ConnectionLost"))
        terminal.err(`Check above whether it was received: ${visibleLine(text)}\n`);
      if (hasReason(error, "ServerUnreachable")) terminal.err(`Not sent: ${visibleLine(text)}\n`);
      throw error;
    }
  };
}

/** What a person has typed of it. */
export function inputText(input: Input): string {
  return typeof input === "string" ? input : input.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function hasReason(error: unknown, reason: Reason): boolean {
  return error instanceof ReasonError && error.reason === reason;
}
