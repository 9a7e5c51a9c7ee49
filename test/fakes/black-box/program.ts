/** One `harness run --json` with a scripted model that makes the calls it is given, one in each step. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Arena } from "./arena.ts";
import type { Attempt } from "./scene.ts";

export interface Call {
  readonly id: string;
  text: string;
  outcome?: string;
  confinement?: string;
}

export interface Run {
  /** Absent: it was stopped after its time. */
  readonly code: number | null;
  readonly err: string;
  readonly calls: readonly Call[];
}

interface Event {
  readonly kind: string;
  readonly payload?: {
    readonly call_id?: string;
    readonly allowed_by?: { readonly confinement?: string };
    readonly content?: readonly { readonly text?: string }[];
    readonly outcome?: string;
  };
}

const launcher = resolve(import.meta.dirname, "../../../bin/harness.cjs");
const MAX_STEPS = 900;
const RUN_LIMIT_MS = 120_000;

export async function runProgram(
  arena: Arena,
  attempts: readonly Attempt[],
  flags: readonly string[] = [],
  limitMs = RUN_LIMIT_MS,
): Promise<Run> {
  const rules = attempts.map(({ command, tool = "exec", args = { command } }, index) => ({
    when: { step: index + 1 },
    reply: [{ tool, args }],
  }));
  const scenario = { name: "black-box", rules, otherwise: [{ text: "done" }] };
  return await runScenario(arena, arena.fill(JSON.stringify(scenario)), flags, limitMs);
}

export async function runScenario(
  arena: Arena,
  scenario: string,
  flags: readonly string[],
  limitMs = RUN_LIMIT_MS,
): Promise<Run> {
  const file = join(arena.root, `scenario-${randomUUID()}.yaml`);
  writeFileSync(file, scenario);
  const args = ["run", "--json", "--max-steps", String(MAX_STEPS), ...flags, "-m", `scripted:${file}`, "go"];
  const { code, out, err } = await program(arena, args, limitMs);
  return { code, err, calls: callsIn(out) };
}

export function program(
  { workspace: cwd, env }: Arena,
  args: readonly string[],
  limitMs = RUN_LIMIT_MS,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [launcher, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const late = setTimeout(() => child.kill("SIGKILL"), limitMs);
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
  });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      clearTimeout(late);
      done({ code, out, err });
    });
  });
}

function callsIn(out: string): Call[] {
  const calls = new Map<string, Call>();
  for (const line of out.split("\n")) {
    // The last line of a run that was stopped may be cut.
    if (!line.endsWith("}")) continue;
    const { kind, payload = {} } = JSON.parse(line) as Event;
    const id = payload.call_id ?? "";
    if (kind === "ToolCallStarted") calls.set(id, { id, text: "" });
    const call = calls.get(id);
    if (call === undefined) continue;
    if (kind === "ToolIntent" && payload.allowed_by?.confinement !== undefined) {
      call.confinement = payload.allowed_by.confinement;
    }
    if (kind === "ToolResult") {
      call.text = (payload.content ?? []).map(({ text = "" }) => text).join("");
      call.outcome = payload.outcome ?? "";
    }
  }
  return [...calls.values()];
}
