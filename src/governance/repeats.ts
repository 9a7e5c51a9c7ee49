/** Sees when the model makes the same call over and over. */
import { canonicalHash } from "#base";
import type { ToolCall } from "#engine";
import type { TurnId } from "#protocol";
import type { Verdict } from "./verdict.ts";

/** How a decision about repeated calls names its rule. */
const REPEATS_RULE = "built-in: repeated-calls";
/** Identical calls in a row until somebody is asked. */
const REPEATS = 3;

/** For people. */
export const REPEATED = `the same call was made ${REPEATS} times in a row; the agent may be going in circles (${REPEATS_RULE})`;

export interface Repeats {
  /** Why the call needs a person, or undefined. Each call is to be shown once. */
  seen(call: ToolCall): string | undefined;
  /** Somebody has looked at it and let it go on. */
  forgive(): void;
}

/** Arguments that change how long a call may take, or what a person reads, and not what it does. */
const BESIDE_THE_POINT = /^(?:timeout|timeout_ms|timeoutMs|description)$/;

/** What makes two calls the same: not the order of their arguments, blanks around them, or what is beside the point. */
function essence(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args)
      .filter(([name, value]) => !BESIDE_THE_POINT.test(name) && !(name === "cwd" && value === "."))
      .map(([name, value]) => [name, typeof value === "string" ? value.trim().replace(/[ \t]+/g, " ") : value]),
  );
}

export function createRepeats(): Repeats {
  let last: { readonly turn: TurnId; readonly call: string; count: number } | undefined;
  return {
    seen({ turn, tool, args, nesting }) {
      if (nesting > 0) return undefined;
      const call = `${tool.name} ${canonicalHash(essence(args))}`;
      if (last?.turn === turn && last.call === call) last.count += 1;
      else last = { turn, call, count: 1 };
      if (last.count < REPEATS) return undefined;
      return REPEATED;
    },
    forgive() {
      last = undefined;
    },
  };
}

/** Going in circles is a reason to ask also about what is allowed. */
export function withRepeats(verdict: Verdict, why: string | undefined): Verdict {
  if (why === undefined || verdict.effect !== "allow") return verdict;
  const consulted = { stage: "preset", name: "repeated calls", source: "built-in", effect: "ask" };
  const trail = [...verdict.judged.trail, consulted];
  return { effect: "ask", judged: { effect: "ask", by: "repeated calls", why, trail } };
}
