/**
 * What is looked up for a person while they type an input: files of the workspace, values and resources of MCP servers. It passes the
 * judge and the gate like the call that would get it, and the log has it before it happens. It is no call of the agent: it has no turn,
 * asks nobody and no hook, and what it finds reaches only whoever types.
 */
import type { Clock, EffectPorts } from "#base";
import { checkingCall, type EventBus, type Judgement, type Tool, type ToolCall, type ToolMiddleware } from "#engine";
import type { ClientId, IdMint, SessionId } from "#protocol";
import { PERSON } from "./inner-effects.ts";
import { issueTicket } from "./ledger.ts";
import type { Permission } from "./permission.ts";

export interface Lookup {
  /** The tool that would get it. */
  readonly tool: string;
  readonly args: ToolCall["args"];
  /** Who types. */
  readonly by: ClientId;
}

/** Undefined: the rules deny it, or there is no such tool. Rejects as the ports do, and when the log does not take the intent. */
export type LookUp = <Found>(
  lookup: Lookup,
  run: (ports: Pick<EffectPorts, "files" | "processes" | "servers">, signal: AbortSignal) => Promise<Found>,
) => Promise<Found | undefined>;

export interface LookupOptions {
  readonly session: SessionId;
  readonly bus: Pick<EventBus, "publish">;
  readonly ids: Pick<IdMint, "call" | "turn">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly tools: () => readonly Tool[];
  readonly judge: Permission["judge"];
  readonly gate: ToolMiddleware;
  readonly policyVersion: () => string;
}

export function createLookups({ session, bus, ids, clock, tools, judge, gate, policyVersion }: LookupOptions): LookUp {
  return async ({ tool: name, args, by }, run) => {
    const tool = tools().find((one) => one.name === name);
    if (tool === undefined) return undefined;
    const { signal } = new AbortController();
    const ofNobody = { turn: ids.turn(), step: 0, originator: by, text: "", calls: [], signal };
    const call: ToolCall = { ...checkingCall(ofNobody, session, ids.call(), 0), tool, args };
    const judged = typedBy(by, await judge(call));
    if (judged === undefined) return undefined;
    const ticket = {
      ...issueTicket(call, policyVersion(), clock.monotonicMs(), () => undefined),
      async intend({ port, target }: { readonly port: string; readonly target: string }) {
        if (port !== "process" && port !== "server") throw new Error(`a lookup has no effect of the kind ${port}`);
        const allowed_by = { ...judged, trail: [...judged.trail] };
        await bus.publish("LookupIntent", { by, name, port, target, policy_version: ticket.policyVersion, allowed_by });
      },
    };
    let found: Awaited<ReturnType<typeof run>> | undefined;
    try {
      await gate({ ...call, judged, ticket }, async ({ ports }) => {
        if (ports !== undefined) found = await run(ports, signal);
        return { content: [], outcome: "ok" };
      });
    } finally {
      ticket.isOpen = false;
    }
    return found;
  };
}

/** Whoever types has asked for it, so that nobody else is asked. What denies it stands. */
function typedBy(
  by: ClientId,
  { effect, judged }: Awaited<ReturnType<Permission["judge"]>>,
): LookupJudgement | undefined {
  if (effect === "deny") return undefined;
  const trail = [...judged.trail, { stage: "answer", name: "typed", source: by, effect: "allow" }];
  return { effect: "allow", by: PERSON, source: by, why: `${by} types an input that names it`, trail };
}

type LookupJudgement = Omit<Judgement, "steering" | "recheck">;
