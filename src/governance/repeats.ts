/** Sees when the model goes in circles: one call over and over, or a few of them round and round. */
import { canonicalHash } from "#base";
import { refusal, type ToolCall } from "#engine";
import { ReasonError, type TurnId } from "#protocol";
import type { Verdict } from "./verdict.ts";

/** How a decision about repeated calls names its rule. */
const REPEATS_RULE = "built-in: repeated-calls";
/** Identical calls in a row until somebody is asked. */
const REPEATS = 3;
/** Different calls that one after the other make a loop, and how often they go round until somebody is asked. */
const MAX_LOOP_CALLS = 4;
const ROUNDS = 2;

/** For people. */
export const REPEATED = `the agent made the same call ${REPEATS} times in a row and may be in a loop (${REPEATS_RULE})`;

export interface CallLoop {
  /** Why the call needs a person. */
  readonly why: string;
  /** The tools of the calls that are repeated. */
  readonly tools: readonly string[];
  /** The same one was seen in an earlier step of this turn: the model knows of it. */
  readonly again: boolean;
}

export interface Repeats {
  /** The loop that the call closes, or undefined. Each call is to be shown once. */
  seen(call: ToolCall): CallLoop | undefined;
  /** Somebody has looked at it and let it go on. */
  forgive(): void;
}

interface SeenCall {
  readonly tool: string;
  readonly essence: string;
  readonly step: number;
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
  let last: { readonly turn: TurnId; calls: SeenCall[]; readonly loops: Map<string, number> } | undefined;
  return {
    seen({ turn, step, tool, args, nesting }) {
      if (nesting > 0) return undefined;
      if (last?.turn !== turn) last = { turn, calls: [], loops: new Map() };
      const made = { tool: tool.name, essence: `${tool.name} ${canonicalHash(essence(args))}`, step };
      last.calls = [...last.calls, made].slice(-MAX_LOOP_CALLS * ROUNDS);
      const loop = loopOf(last.calls);
      if (loop === undefined) return undefined;
      const named = canonicalHash(loop.map((call) => call.essence).toSorted());
      const first = last.loops.get(named) ?? step;
      last.loops.set(named, first);
      const tools = loop.map((call) => call.tool);
      const why = `the agent repeated the same ${tools.length} calls ${ROUNDS} times and may be in a loop (${REPEATS_RULE})`;
      return { why: tools.length === 1 ? REPEATED : why, tools, again: first < step };
    },
    forgive() {
      if (last !== undefined) last.calls = [];
    },
  };
}

/** The calls that go round at the end of the list; the shortest loop that there is. */
function loopOf(calls: readonly SeenCall[]): readonly SeenCall[] | undefined {
  for (let length = 1; length <= MAX_LOOP_CALLS; length++) {
    const wanted = length * (length === 1 ? REPEATS : ROUNDS);
    const end = calls.slice(-wanted);
    const goesRound = end.length === wanted && end.every((call, at) => call.essence === end[at % length]?.essence);
    // Several calls of one response are made at once: there is no second round without what came of the first.
    const hasRead = length === 1 || end[0]?.step !== end[length]?.step;
    if (goesRound && hasRead) return end.slice(0, length);
  }
  return undefined;
}

/** Going in circles is a reason to ask also about what is allowed. */
export function withRepeats(verdict: Verdict, why: string | undefined): Verdict {
  if (why === undefined || verdict.effect !== "allow") return verdict;
  const consulted = { stage: "preset", name: "repeated calls", source: "built-in", effect: "ask" };
  const trail = [...verdict.judged.trail, consulted];
  return { effect: "ask", judged: { effect: "ask", by: "repeated calls", why, trail } };
}

/** The agent went on where nobody can say whether it may: the turn ends. */
export function endOfLoop({ judged }: Verdict, { why, tools }: CallLoop): Extract<Verdict, { effect: "deny" }> {
  const ends = new ReasonError("LoopDetected", { tools: tools.join(", ") });
  const consulted = { stage: "preset", name: "repeated calls", source: "built-in", effect: "deny" };
  return {
    effect: "deny",
    judged: { effect: "deny", by: "repeated calls", why, trail: [...judged.trail, consulted] },
    result: { ...refusal("denied", "LoopDetected", ends.message), endsTurn: ends },
  };
}
