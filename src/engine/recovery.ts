/**
 * What to do with a session whose program stopped in the middle: calls that change nothing are run again, calls that may
 * have changed something wait until a person says what became of them, and the cut-off turn is closed.
 */

import { canonicalHash, defined } from "#base";
import {
  type CallId,
  type ClientId,
  type EventOf,
  ReasonError,
  reasonText,
  type ToolOutputBlock,
  type TurnId,
} from "#protocol";
import type { EventBus } from "./bus.ts";
import { carriedOn } from "./carried-on.ts";
import type { GivenAnswers } from "./given-answers.ts";
import type { Remains } from "./remains.ts";
import type { Tool } from "./tool.ts";
import type { ToolHandler } from "./tool-chain.ts";

export type OrphanResolution = "failed" | "succeeded" | "abort";

export interface RecoveryParts {
  readonly bus: EventBus;
  /** Of the earlier run, and kept up to date by the session. */
  readonly remains: Remains;
  readonly openCalls: readonly EventOf<"ToolIntent">[];
  /** Absent for a new session. */
  readonly answers?: Pick<GivenAnswers, "wasDecided">;
  readonly handler: ToolHandler;
  readonly tools: () => readonly Tool[];
  readonly depth: number;
  /** Inputs that wait; asked when the turn is closed. */
  readonly queued: () => readonly number[];
}

export interface Recovery {
  /** Calls that wait for a person, oldest first. */
  readonly orphans: readonly Orphan[];
  /** Runs what may be run again, tells of what may not, and closes the turn when nothing waits. */
  begin(): Promise<void>;
  /** Throws CallNotFound when the call does not wait. Closes the turn with the last one. */
  resolve(callId: CallId, resolution: OrphanResolution, by: ClientId, note?: string): Promise<void>;
}

export interface Orphan {
  readonly callId: CallId;
  readonly turn: TurnId;
  readonly step: number;
  readonly name: string;
  readonly args: unknown;
  readonly startedAt: string;
}

export function createRecovery(parts: RecoveryParts): Recovery {
  const { bus, remains, openCalls, answers, handler, tools, depth, queued } = parts;
  const waiting = new Map<CallId, Orphan>();

  function orphanOf({ ts, payload }: EventOf<"ToolIntent">): Orphan {
    const { call_id: callId, turn, step, name } = payload;
    return { callId, turn, step, name, args: remains.startOf(callId)?.payload.args, startedAt: ts };
  }

  /** The result that the model gets. */
  async function tell(orphan: Orphan, outcome: "ok" | "error", content: ToolOutputBlock[]): Promise<void> {
    const { callId: call_id, turn, step, name } = orphan;
    const is_error = outcome !== "ok";
    await bus.publish("ToolResult", { turn, step, call_id, name, content, is_error, outcome, duration_ms: 0 });
  }

  /** Closes the intent of a call that did not run again. */
  async function close({ callId: call_id, turn }: Orphan, outcome: "ok" | "error", content: ToolOutputBlock[]) {
    await bus.publish("ToolOutcome", { turn, call_id, outcome, result_hash: canonicalHash(content) });
  }

  async function runAgain(orphan: Orphan): Promise<void> {
    if (remains.startOf(orphan.callId)?.payload.parent !== undefined) {
      // Whoever made it runs again, or is told of; it is not run on its own.
      return close(orphan, "error", [textBlock("The call that made it was interrupted.")]);
    }
    if (answers?.wasDecided(orphan.callId)) {
      // Whoever was asked has answered, for one run. To run it again is another question, which the model may bring up.
      const content = [
        textBlock("The call was interrupted while it ran. The approval was only for that run: make the call again."),
      ];
      await close(orphan, "error", content);
      return tell(orphan, "error", content);
    }
    const tool = tools().find(({ name }) => name === orphan.name);
    const args = orphan.args;
    if (tool === undefined || typeof args !== "object" || args === null) {
      const content = [textBlock("The call was interrupted, and its tool no longer exists.")];
      await close(orphan, "error", content);
      return tell(orphan, "error", content);
    }
    const { callId: id, turn, step } = orphan;
    const originator = remains.startOf(id)?.originator;
    if (originator === undefined) throw new Error(`the log has no start for ${id}`);
    let closed = false;
    const stopWatching = bus.subscribe((event) => {
      if (event.kind === "ToolOutcome" && event.payload.call_id === id) closed = true;
    });
    const result = await handler({
      id,
      session: bus.session,
      turn,
      step,
      originator,
      tool,
      // An object by the check above; validated again by the chain.
      args: args as Record<string, unknown>,
      signal: new AbortController().signal,
      depth,
      nesting: 0,
      progress: () => undefined,
      annotate: () => undefined,
    });
    await bus.flush();
    stopWatching();
    const outcome = result.outcome === "ok" ? "ok" : "error";
    const content = [...result.content];
    // The chain closes what it runs; what it refused is closed here.
    if (!closed) await close(orphan, outcome, content);
    await tell(orphan, outcome, content);
  }

  /** A turn that never ended gets its end, so that the log reads as what it was. */
  async function closeTurn(): Promise<void> {
    if (remains.openTurn === undefined) return;
    const { turn, steps } = remains.openTurn;
    const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
    const reason = "Interrupted";
    const error = bus.publish("Error", { turn, reason, message: reasonText(reason), terminal: true });
    await Promise.all([
      error,
      bus.publish("TurnEnded", {
        ...{ turn, outcome: "error", reason, steps, usage, duration_ms: 0 },
        ...carriedOn({
          spent: remains.spent,
          delegated: remains.delegated,
          labels: remains.labels,
          planMode: remains.planMode,
          queued: queued(),
          lasting: remains.lasting.ids,
        }),
      }),
    ]);
  }

  return {
    get orphans() {
      return [...waiting.values()];
    },
    async begin() {
      for (const intent of openCalls) {
        const orphan = orphanOf(intent);
        // A log from elsewhere may call a tool harmless that is not, and one of ours may have been so then.
        const classNow = tools().find(({ name }) => name === orphan.name)?.class;
        if ([intent.payload.class, classNow].includes("mutating")) waiting.set(orphan.callId, orphan);
        else await runAgain(orphan);
      }
      for (const { callId: call_id, turn, name, args, startedAt: started_at } of waiting.values()) {
        await bus.publish("OrphanedCall", { turn, call_id, name, args, started_at });
      }
      if (waiting.size === 0) await closeTurn();
    },
    async resolve(callId, resolution, by, note) {
      const orphan = waiting.get(callId);
      if (orphan === undefined) throw new ReasonError("CallNotFound", { call_id: callId });
      const { turn } = orphan;
      waiting.delete(callId);
      try {
        await bus.publish("OrphanResolved", {
          turn,
          call_id: callId,
          resolution,
          by,
          ...defined({ note }),
        });
      } catch (error) {
        // The log does not have the answer: the call waits for it as before.
        waiting.set(callId, orphan);
        throw error;
      }
      const said = resolution === "succeeded" ? "it succeeded" : "it failed";
      const told = note === undefined ? "" : ` ${note}`;
      const content = [textBlock(`The program stopped while this call ran. The user says that ${said}.${told}`)];
      const outcome = resolution === "succeeded" ? "ok" : "error";
      await close(orphan, outcome, content);
      await tell(orphan, outcome, content);
      if (waiting.size === 0) await closeTurn();
    },
  };
}

function textBlock(text: string): ToolOutputBlock {
  return { type: "text", text };
}
