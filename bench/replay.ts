/**
 * Replays: how many of 1,000 give the recorded log byte for byte, how many sessions of 10 steps one process replays in a second, and
 * how many network system calls the program makes for one (Linux with strace). `node bench/replay.ts [runs]`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defaultSettings } from "#artifacts";
import { assembleHarness, type HarnessOptions } from "#program";
import type { Event } from "#protocol";
import { createHeldKeys } from "#providers";
import { createSystemClock } from "#world";
import { type Figure, holds, printFigures } from "./figures.ts";

const RUNS = 1000;
const STEPS = 10;
const MIN_SESSIONS_PER_SECOND = 50;
/** Copies of the workspace that runs take turns with: making one is no part of a replay. */
const FOLDERS = 50;
/** Sessions at the same time: one waits for the disk while another goes on. */
const LANES = 8;
const RUN_TIMEOUT_MS = 120_000;
const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");
const out = (line: string): boolean => process.stdout.write(`${line}\n`);

const runs = Number(process.argv[2] ?? RUNS);
const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-replay-")));
const original = join(home, "original");
const cassette = join(home, "ten-steps.cassette");
try {
  prepare();
  const recorded = await session("recorded", { record: cassette });
  const { identical, perSecond, cpuMs } = await replays(recorded);
  const calls = networkCalls(recorded);
  const figures: Figure[] = [
    { name: `replays that were not byte-identical, of ${runs}`, unit: "runs", ours: runs - identical, limit: 0 },
    {
      name: `time of a replayed session of ${STEPS} steps, its ${(readFileSync(cassette).length / 1024).toFixed(0)} kB cassette read each time`,
      unit: "ms",
      ours: 1000 / perSecond,
      limit: 1000 / MIN_SESSIONS_PER_SECOND,
    },
    ...(calls === undefined
      ? []
      : [{ name: "network system calls of a replay", unit: "calls", ours: calls, limit: 0 }]),
  ];
  out(
    `${perSecond.toFixed(0)} sessions of ${STEPS} steps per second in one process; ${cpuMs.toFixed(1)} ms of processor time each`,
  );
  printFigures("replay", figures);
  process.exitCode = figures.every(holds) && calls !== undefined ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Reads, parallel reads, a search, writes and commands that change files. */
function prepare(): void {
  mkdirSync(original);
  for (const name of ["a", "b", "c"]) writeFileSync(join(original, `${name}.txt`), `${name}\n`.repeat(200));
  const steps = [
    `{ text: "I look around." }, { tool: fs.list, args: { path: . } }`,
    `{ tool: fs.read, args: { path: a.txt } }, { tool: fs.read, args: { path: b.txt } }, { tool: fs.read, args: { path: c.txt } }`,
    `{ tool: fs.search, args: { pattern: b, path: . } }`,
    `{ tool: fs.write, args: { path: made/one.txt, content: one } }`,
    `{ tool: exec, args: { command: "cat a.txt > copied.txt; echo done" } }`,
    `{ tool: fs.read, args: { path: copied.txt } }`,
    `{ tool: fs.edit, args: { path: made/one.txt, old_text: one, new_text: two } }`,
    `{ tool: exec, args: { command: "wc -l *.txt; rm c.txt" } }`,
    `{ tool: fs.list, args: { path: made } }, { tool: fs.glob, args: { pattern: "*.txt" } }`,
  ];
  const rules = steps.map((reply, index) => `  - when: { step: ${index + 1} }\n    reply: [${reply}]\n`);
  writeFileSync(
    join(home, "model.yaml"),
    `name: ten-steps\nrules:\n${rules.join("")}otherwise: [{ text: That is all. }]\n`,
  );
}

async function session(
  name: string,
  option: NonNullable<HarnessOptions["cassette"]>,
  folder = copy(name),
): Promise<string> {
  const harness = await assembleHarness({
    settings: defaultSettings,
    env: { PATH: process.env.PATH, HOME: home },
    credentials: createHeldKeys({}),
    clock: createSystemClock(),
    workspace: folder,
    offlineAllowed: false,
    scenarioFile: (file) => file,
    store: { kind: "memory" },
    autoApprove: true,
    cassette: option,
    ...("record" in option ? { model: `scripted:${join(home, "model.yaml")}` } : {}),
  });
  const events: Event[] = [];
  const client = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent: (event) => events.push(event),
  });
  // The one session of this program.
  const created = await client.submit({ kind: "CreateSession", working_dir: folder });
  const content = [{ type: "text" as const, text: "go" }];
  const { done } = await client.submit({ kind: "SendInput", session: created.session, content });
  const { steps } = await done;
  if (steps !== STEPS) throw new Error(`the session had ${steps} steps instead of ${STEPS}`);
  await harness.shutdown();
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

function copy(name: string): string {
  const folder = join(home, name);
  cpSync(original, folder, { recursive: true });
  return folder;
}

async function replays(recorded: string): Promise<{ identical: number; perSecond: number; cpuMs: number }> {
  let identical = 0;
  let cpuMs = 0;
  let spentMs = 0;
  for (let done = 0; done < runs; done += FOLDERS) {
    const count = Math.min(FOLDERS, runs - done);
    const folders = Array.from({ length: count }, (_, index) => copy(`replay-${index}`));
    const startMs = performance.now();
    const startCpu = process.cpuUsage();
    const waiting = [...folders];
    const lane = async (): Promise<void> => {
      for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
        if ((await session("", { replay: cassette }, folder)) === recorded) identical += 1;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    spentMs += performance.now() - startMs;
    const { user, system } = process.cpuUsage(startCpu);
    cpuMs += (user + system) / 1000;
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
  return { identical, perSecond: (runs * 1000) / spentMs, cpuMs: cpuMs / runs };
}

/** Of the whole program, as a user starts it; undefined where there is no strace. */
function networkCalls(recorded: string): number | undefined {
  if (spawnSync("strace", ["-V"]).status !== 0) {
    out("SKIPPED: strace is not here; network system calls were not counted");
    return undefined;
  }
  const trace = join(home, "trace");
  const printed = join(home, "printed.jsonl");
  const [output, errors] = [openSync(printed, "w"), openSync(join(home, "errors"), "w")];
  const flags = ["run", "--replay", cassette, "-C", copy("traced"), "--auto-approve", "--no-project", "--json"];
  // Node asks what its standard streams are when they are sockets, so they are files.
  const { status } = spawnSync(
    "strace",
    ["-f", "-e", "trace=%network", "-o", trace, process.execPath, launcher, ...flags],
    {
      cwd: home,
      env: { HOME: home, PATH: process.env.PATH },
      stdio: ["ignore", output, errors],
      timeout: RUN_TIMEOUT_MS,
    },
  );
  if (status !== 0)
    throw new Error(
      `the replay under strace ended with ${String(status)}: ${readFileSync(join(home, "errors"), "utf8")}`,
    );
  if (readFileSync(printed, "utf8") !== recorded) throw new Error("the replay under strace has another log");
  const calls = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => /^\d+ +\w+\(/.test(line));
  for (const line of calls.slice(0, 10)) out(`network: ${line}`);
  return calls.length;
}
