/** Runs scenes against the built program, and their controls in plain Bash. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base";
import { type Arena, createArena } from "./arena.ts";
import { changes, type Listener, leakedInto, listen, obeyed, printedSecret, treeOf } from "./effects.ts";
import { type Call, type Run, runProgram } from "./program.ts";
import { type Attempt, attemptsOf, type GroupedScene, nameOf } from "./scene.ts";

export interface SceneOutcome {
  readonly group: string;
  readonly name: string;
  readonly attempts: number;
  readonly effects: readonly string[];
  /** Attempts that were not made: the run ended before. */
  readonly missed: number;
  readonly controls: number;
  /** Controls whose text had no effect in plain Bash. */
  readonly silent: readonly string[];
}

/** The program's own files in a home. */
const ownFiles = /^(?:\.cache|\.local|\.config\/harness)(?:\/|$)/;
/** What a session writes of its own there. */
const sessionFiles = /heads|sessions\.db|\blogs?\b|undo|retention|compile-cache|workspaces/;
const CONTROL_LIMIT_MS = 10_000;

export async function runScenes(scenes: readonly GroupedScene[], atOnce: number): Promise<SceneOutcome[]> {
  const outcomes: SceneOutcome[] = [];
  const waiting = [...scenes];
  const work = async (): Promise<void> => {
    for (let scene = waiting.shift(); scene !== undefined; scene = waiting.shift()) {
      outcomes.push(await runScene(scene));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

async function runScene(scene: GroupedScene): Promise<SceneOutcome> {
  await using listener = await listen();
  using arena = createArena(scene, listener);
  const attempts = attemptsOf(scene);
  const look = watched(arena, scene);
  const run = await runProgram(arena, attempts, scene.flags);
  const effects = [
    ...run.calls.flatMap((call, index) => effectsOfCall(call, attempts[index] ?? {}, scene)),
    ...look(),
    ...(scene.untouched === undefined ? leakedInto(arena.workspace) : []),
    ...listener.reached.map((name) => `reached the ${name}`),
    ...(scene.gitIn === undefined ? [] : obeyed(arena, scene.gitIn)),
    ...(run.code === null ? ["the program did not end"] : []),
  ];
  const controls = await runControls(scene);
  return {
    group: scene.group,
    name: scene.name,
    attempts: scene.script === undefined ? attempts.length : 1,
    effects,
    missed: missed(run, attempts),
    ...controls,
  };
}

/** A workspace that holds the program's own folders is refused before the first call: each attempt was made, and held. */
function missed(run: Run, attempts: readonly Attempt[]): number {
  if (run.err.includes("which belongs to this program")) return 0;
  return Math.max(0, attempts.length - run.calls.length);
}

function effectsOfCall(call: Call, attempt: Attempt, { quiet = false }: GroupedScene): string[] {
  const effects = printedSecret(call.text);
  if (attempt.refused === true && call.outcome === "ok") effects.push("succeeded");
  if (quiet && call.confinement !== undefined && call.confinement !== "reader") {
    effects.push(`ran in ${call.confinement} without a question`);
  }
  return effects.map((effect) => `${nameOf(attempt)}: ${effect}`);
}

/** Looks at everything that must stay as it is; gives what looks again. */
function watched(arena: Arena, { quiet = false, untouched = [] }: GroupedScene): () => string[] {
  const places = [
    { top: arena.outside, leaveOut: /$^/ },
    ...(untouched.length === 0 ? [{ top: arena.home, leaveOut: ownFiles }] : []),
    ...untouched.map((folder) => ({ top: join(arena.home, folder), leaveOut: sessionFiles })),
    ...(quiet ? [{ top: arena.workspace, leaveOut: /$^/ }] : []),
  ];
  const before = places.map(({ top, leaveOut }) => treeOf(top, leaveOut));
  return () => places.flatMap(({ top, leaveOut }, index) => changes(before[index] ?? new Map(), treeOf(top, leaveOut)));
}

async function runControls(scene: GroupedScene): Promise<{ controls: number; silent: string[] }> {
  const texts = [
    ...(scene.control === true ? [{ name: scene.name, text: "bash k.sh" }] : []),
    ...(scene.attempts ?? [])
      .filter(({ control, command }) => control === true && command !== undefined)
      .map(({ command = "" }) => ({ name: command, text: command })),
  ];
  const silent: string[] = [];
  for (const { name, text } of texts) {
    await using listener = await listen();
    using arena = createArena(scene, listener);
    if (!(await hasEffect(arena, listener, text, scene))) silent.push(name);
  }
  return { controls: texts.length, silent };
}

async function hasEffect(arena: Arena, listener: Listener, text: string, scene: GroupedScene): Promise<boolean> {
  const look = watched(arena, { ...scene, quiet: true });
  const file = join(arena.root, "control.sh");
  writeFileSync(file, arena.fill(text));
  const out = await plainBash(arena, file);
  if (scene.gitIn !== undefined) return obeyed(arena, scene.gitIn).length > 0;
  return listener.reached.length > 0 || printedSecret(out).length > 0 || look().length > 0;
}

function endGroup(leader: number | undefined): void {
  try {
    process.kill(-(leader ?? Number.NaN), "SIGKILL");
  } catch (error) {
    // All of it has ended.
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}

function plainBash({ workspace: cwd, env }: Arena, file: string): Promise<string> {
  // A group of its own: what the text leaves behind would hold the pipes open.
  const child = spawn("bash", [file], { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const late = setTimeout(() => {
    endGroup(child.pid);
    // What left the group holds them open.
    child.stdout.destroy();
    child.stderr.destroy();
  }, CONTROL_LIMIT_MS);
  let out = "";
  const keep = (chunk: string): void => {
    out += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", () => {
      clearTimeout(late);
      done(out);
    });
  });
}
