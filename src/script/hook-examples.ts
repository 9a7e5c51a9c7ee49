/** The examples beside a hook, tried out: what it must act on, and what it must let pass. Nothing they run can have an effect. */
import type { HookArtifact, PolicyExample, Problem } from "#artifacts";
import { type Clock, EffectError, messageOf } from "#base";
import type { Hook, HookCall, HookDecision } from "#engine";
import { SessionId } from "#protocol";
import { NeedsEffect } from "./builtins/table.ts";
import { type HookNames, hookOf } from "./hook-script.ts";
import { noFiles, noProcesses, noWeb } from "./no-ports.ts";
import { createRunStates } from "./run-state.ts";
import type { ScriptServices } from "./services.ts";

/** Every example is a call of the hook with ports that refuse. */
export function checkExamples(artifact: HookArtifact, names: HookNames): Problem[] {
  if (artifact.match.length === 0 && artifact.notMatch.length === 0) return [];
  const hook = hookOf(artifact, exampleServices(), names);
  return [
    ...artifact.match.flatMap((example) => {
      const outcome = outcomeOf(hook, example);
      if (typeof outcome === "object" && (outcome.action === "block" || outcome.action === "modify")) return [];
      return [exampleProblem(example, `hook ${hook.name} must block or modify this payload, but ${describe(outcome)}`)];
    }),
    ...artifact.notMatch.flatMap((example) => {
      const outcome = outcomeOf(hook, example);
      if (outcome === "unselected" || (typeof outcome === "object" && outcome.action === "allow")) return [];
      return [exampleProblem(example, `hook ${hook.name} must let this payload pass, but ${describe(outcome)}`)];
    }),
  ];
}

type Outcome = HookDecision | "unselected" | Failed;

function outcomeOf(hook: Hook, { payload }: PolicyExample): Outcome {
  const call: HookCall = {
    session: EXAMPLE_SESSION,
    depth: 0,
    nesting: 0,
    signal: new AbortController().signal,
    event: hook.event,
    payload,
    ports: { files: noFiles, web: noWeb, processes: noProcesses },
    annotate: () => undefined,
  };
  try {
    if (!hook.matches(call)) return "unselected";
    const decision = hook.handle(call);
    return decision instanceof Promise ? new Failed("it waits for something") : decision;
  } catch (error) {
    return new Failed(whyOf(error));
  }
}

class Failed {
  readonly action = "failed";
  readonly why: string;
  constructor(why: string) {
    this.why = why;
  }
}

function whyOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof NeedsEffect) return `the example needs an effect: ${at.builtin}`;
    if (at instanceof EffectError) return "the example needs an effect";
  }
  return messageOf(error);
}

function describe(outcome: Outcome): string {
  if (outcome === "unselected") return "its when: does not select it";
  if (outcome.action === "failed")
    return outcome.why.startsWith("the example") ? outcome.why : `it fails: ${outcome.why}`;
  return outcome.action === "block" ? `it blocks: ${outcome.reason}` : `it answers ${outcome.action}`;
}

function exampleProblem({ place }: PolicyExample, message: string): Problem {
  return { severity: "error", code: "example", place, message };
}

const EXAMPLE_SESSION = SessionId.from("00000000000000000000000000");

/** The same moment for every run, so that an example does not pass by day and fail by night. */
const EXAMPLE_CLOCK: Clock = {
  now: () => Date.UTC(2026, 0, 1, 12),
  monotonicMs: () => 0,
  uptimeMs: () => 0,
  sleep: async () => undefined,
};

/** A world in which nothing happens. */
function exampleServices(): ScriptServices {
  return {
    clock: EXAMPLE_CLOCK,
    random: { bytes: (count) => new Uint8Array(count) },
    host: { args: [], hostname: "localhost", platform: "linux" },
    states: createRunStates(),
    env: () => undefined,
    secret: () => undefined,
    log: () => undefined,
    emit: () => undefined,
    maxCallDepth: 0,
  };
}
