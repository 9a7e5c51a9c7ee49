/**
 * What asking a hook costs: one whose `when:` does not match, one that matches and allows, and ten of them around a call. Only
 * the scripts are measured, not the chain that asks them. Usage: node bench/hooks.ts
 */
import type { HookArtifact, ScriptSource } from "#artifacts";
import type { Hook, HookCall } from "#engine";
import { SessionId, TurnId } from "#protocol";
import { createRunStates, createScripts } from "#script";
import { createProcesses, createPublicWeb, createSystemClock, createSystemRandom, createWorkspaceFiles } from "#world";
import { type Figure, holds, printFigures } from "./figures.ts";

const ROUNDS = 100;
const CALLS = 2_000;

const guardScript = [
  "def handle(event, payload):",
  '    command = payload.get("args", {}).get("command", "")',
  '    for pattern in ["rm -rf /", "mkfs", "dd if=", "shutdown"]:',
  "        if pattern in command:",
  '            metrics.incr("audit.policy.deny")',
  '            return block("dangerous command: " + pattern)',
  '    metrics.incr("audit.tool.pre")',
  "    return allow()",
  "",
].join("\n");

function sourceOf(text: string): ScriptSource {
  return { text, place: { file: "guard.md", line: 5, column: 3 } };
}

function artifact(index: number, when: string): HookArtifact {
  return {
    kind: "hook",
    name: `guard_${index}`,
    place: { file: "guard.md", line: 1, column: 1 },
    hash: "0",
    tier: "project",
    event: "tool.pre",
    priority: index,
    when: sourceOf(when),
    script: sourceOf(guardScript),
    match: [],
    notMatch: [],
  };
}

/** Best time of one run in microseconds: many short rounds, so that some of them are undisturbed. */
function microseconds(run: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < CALLS; i++) run();
    best = Math.min(best, (1000 * (performance.now() - started)) / CALLS);
  }
  return best;
}

function ask(hook: Hook, call: HookCall): string {
  if (!hook.matches(call)) return "unselected";
  const decision = hook.handle(call);
  if (decision instanceof Promise) throw new Error("a hook that waits for nothing made a promise");
  return decision.action;
}

export function benchHooks(): Figure[] {
  const scripts = createScripts({
    clock: createSystemClock(),
    random: createSystemRandom(),
    host: { args: [], hostname: "bench", platform: "linux" },
    states: createRunStates(),
    env: () => undefined,
    secret: () => undefined,
    log: () => undefined,
    emit: () => undefined,
    maxCallDepth: 0,
  });
  const call: HookCall = {
    session: SessionId.from("01JZ0000000000000000000000"),
    turn: TurnId.from("01JZ0000000000000000000001"),
    depth: 0,
    nesting: 0,
    signal: new AbortController().signal,
    event: "tool.pre",
    payload: {
      id: "call_1",
      name: "run_command",
      args: { command: "git status --short" },
      content: "x".repeat(100_000),
    },
    ports: {
      files: createWorkspaceFiles("."),
      web: createPublicWeb(),
      processes: createProcesses({ root: ".", env: {} }),
    },
    annotate: () => undefined,
  };
  const matching = scripts.hook(artifact(0, 'payload["name"] == "run_command"'));
  const other = scripts.hook(artifact(1, 'payload["name"] in ["fs.read", "fs.list"]'));
  const ten = Array.from({ length: 10 }, (_, index) =>
    scripts.hook(artifact(index, 'payload["name"] == "run_command"')),
  );
  if (ask(matching, call) !== "allow" || ask(other, call) !== "unselected")
    throw new Error("the hooks do not do their work");
  return [
    { name: "hook whose when: does not match", unit: "us", ours: microseconds(() => ask(other, call)), limit: 5 },
    { name: "hook that matches and allows", unit: "us", ours: microseconds(() => ask(matching, call)), limit: 50 },
    {
      name: "ten hooks that match and allow",
      unit: "us",
      ours: microseconds(() => ten.map((hook) => ask(hook, call))),
      limit: 1000,
    },
  ];
}

if (import.meta.main) {
  const figures = benchHooks();
  printFigures("hooks", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
