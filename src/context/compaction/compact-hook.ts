/** Asks the hooks of `context.compact`: they may refuse, change the focus, and add context that the model reads afterwards. */
import { isRecord } from "#base";
import { type CompactionPoint, type CompactionProblem, type HookDispatcher, publishContext } from "#engine";
import { reasonText } from "#protocol";
import type { Due } from "./compactor.ts";

export interface CompactHookParts {
  readonly hooks: HookDispatcher | undefined;
  readonly depth: number;
  readonly at: CompactionPoint;
  readonly due: Due;
  readonly tokens: number;
  readonly limit: number | undefined;
}

export type AskedCompaction =
  | { readonly problem: CompactionProblem }
  | { readonly focus: string | undefined; publishContext(): Promise<void> };

const EVENT = "context.compact";

export async function askBeforeCompaction(parts: CompactHookParts): Promise<AskedCompaction> {
  const { hooks, depth, at, due, tokens, limit } = parts;
  const { trigger, focus } = due;
  if (hooks === undefined || hooks.idle(EVENT)) return { focus, publishContext: async () => undefined };
  const { session, turn, step, originator, signal, bus } = at;
  const payload = {
    trigger: trigger === "command" ? "manual" : "auto",
    cause: trigger,
    focus: focus ?? "",
    tokens,
    limit: limit ?? null,
  };
  const point = { session, turn, step, depth, nesting: 0, originator, signal };
  const verdict = await hooks.dispatch(EVENT, payload, point, { fields: ["focus"] });
  if (verdict.blocked) {
    const { hook, reason, source } = verdict;
    const message = reasonText("HookBlocked", { event: EVENT, hook, reason, source });
    return { problem: { reason: "HookBlocked", message } };
  }
  const changed = isRecord(verdict.payload) ? verdict.payload.focus : undefined;
  return {
    focus: typeof changed === "string" && changed.trim() !== "" ? changed : focus,
    publishContext: () => publishContext(bus, verdict.context ?? [], turn),
  };
}
