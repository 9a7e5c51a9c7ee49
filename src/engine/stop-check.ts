/** The agent says that it is done: whoever gave it the work may hold that against the facts, and send it back. */
import { type CallId, type ClientId, type Reason, reasonText, type SessionId, type TurnId } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { Tool } from "./tool.ts";
import type { CallResult } from "./tool-chain.ts";
import type { PublishedCall } from "./turn-hooks.ts";

export interface Claim {
  readonly turn: TurnId;
  readonly step: number;
  readonly originator: ClientId;
  /** What the agent wrote in its last step. */
  readonly text: string;
  readonly calls: readonly PublishedCall[];
  readonly signal: AbortSignal;
}

export type StopVerdict =
  | { readonly accepted: true }
  /** The same agent goes on, with this text and as many steps as a turn has. */
  | { readonly accepted: false; readonly text: string; readonly source: string }
  /** The turn ends as a failure. */
  | { readonly accepted: false; readonly reason: Reason; readonly message: string };

/** Runs a tool that the model does not have, for a check, through the whole chain of the session. */
export type CheckCall = (tool: Tool, args: Readonly<Record<string, unknown>>) => Promise<CallResult>;

/** Asked when the agent wants to stop and no hook holds it back. Must not throw; bounds how often it sends it back. */
export type StopCheck = (claim: Claim, call: CheckCall) => Promise<StopVerdict>;

interface Ended {
  readonly outcome: "error";
  readonly reason: Reason;
  readonly message: string;
}

/** Undefined: it may stop. `again`: it was sent back. */
export async function checkClaim(
  parts: {
    readonly bus: Pick<EventBus, "publish">;
    readonly checkStop?: (claim: Claim) => Promise<StopVerdict>;
  },
  claim: Claim,
): Promise<Ended | "again" | undefined> {
  if (parts.checkStop === undefined) return undefined;
  let verdict: StopVerdict;
  try {
    verdict = await parts.checkStop(claim);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { outcome: "error", reason: "VerifierBroken", message: reasonText("VerifierBroken", { detail }) };
  }
  if (verdict.accepted) return undefined;
  if ("reason" in verdict) return { outcome: "error", reason: verdict.reason, message: verdict.message };
  const { turn, step } = claim;
  await parts.bus.publish("Reprompted", { turn, step, text: verdict.text, source: verdict.source });
  return "again";
}

/** A call that nobody made: what a check runs is recorded as a call inside it. */
export function checkingCall(claim: Claim, session: SessionId, id: CallId, depth: number) {
  const { turn, step, originator, signal } = claim;
  const tool: Tool = {
    name: "check",
    label: "Check",
    class: "read_only",
    description: "",
    parameters: {},
    run: () => Promise.reject(new Error("a check is not a tool")),
  };
  const nothing = (): void => undefined;
  return {
    id,
    session,
    turn,
    step,
    depth,
    nesting: 0,
    originator,
    tool,
    args: {},
    signal,
    progress: nothing,
    annotate: nothing,
  };
}
