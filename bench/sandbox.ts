/**
 * `node bench/sandbox.ts [rounds]`: the hostile scripts of the corpus in a real sandbox, none of which may get anything
 * out, and what a command costs in it, compared with a bare `bwrap … true` with the same mounts in the same run.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  createDomainList,
  createProcesses,
  createPublicWeb,
  createSystemClock,
  createWorkspaceFiles,
  type ProcessPort,
} from "#base";
import { isSecretFile } from "#governance";
import { CallId, ClientId, SessionId, TurnId } from "#protocol";
import { createSandboxes } from "#sandbox";
import { createBuiltinTools } from "#tools";
import { createSandboxArena, type EscapeScript } from "../test/fakes/sandbox-arena.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const MAX_RATIO = 1.3;
const WARM_ROUNDS = 5;
const LISTED_ROUNDS = 15;
const rounds = Number(process.argv[2] ?? 101);

const figures = [...(await runCorpus()), ...(await measureOverhead())];
printFigures("sandbox", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

async function runCorpus(): Promise<Figure[]> {
  const file = resolve(import.meta.dirname, "../test/corpora/sandbox-escapes.json");
  const scripts = JSON.parse(await readFile(file, "utf8")) as EscapeScript[];
  const arena = await createSandboxArena();
  const counts = { attempts: 0, writes: 0, connections: 0, survivors: 0, leaks: 0, claims: 0 };
  try {
    for (const script of scripts) {
      const networks = script.aim === "network" ? (["none", "listed"] as const) : ([script.network ?? "open"] as const);
      for (const network of networks) {
        const { writes, connections, survivors, leaked, claimed, output } = await arena.attempt(script, network);
        counts.attempts++;
        counts.writes += writes.length;
        counts.connections += connections.length;
        counts.survivors += survivors;
        counts.leaks += leaked ? 1 : 0;
        counts.claims += claimed ? 1 : 0;
        if (writes.length + connections.length + survivors > 0 || leaked || claimed) {
          process.stdout.write(
            `GOT OUT: ${script.name} (${network})\n${JSON.stringify({ writes, connections, survivors })}\n${output}\n`,
          );
        }
      }
    }
  } finally {
    await arena.close();
  }
  process.stdout.write(`${scripts.length} scripts, ${counts.attempts} attempts\n`);
  const none = (name: string, ours: number): Figure => ({ name, unit: "", ours, limit: 0 });
  return [
    none("writes outside or to protected files", counts.writes),
    none("connections off the list", counts.connections),
    none("processes that outlived their command", counts.survivors),
    none("secrets read", counts.leaks),
    none("other ways out", counts.claims),
  ];
}

async function measureOverhead(): Promise<Figure[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-bench-")));
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(root, ".git/config"), "[core]\n");
  const outside = createProcesses({ root, env: process.env });
  let line: { file: string; args: readonly string[] } | undefined;
  const spying: ProcessPort = {
    run(spec, signal) {
      line = { file: spec.file, args: spec.args };
      return outside.run(spec, signal);
    },
  };
  const clock = createSystemClock();
  const sandbox = createSandboxes({ env: process.env, ownPaths: [], clock, isSecret: isSecretFile }).open({
    mode: "required",
    root,
    processes: spying,
  });
  const ports = { files: createWorkspaceFiles(root), processes: sandbox.processes, web: createPublicWeb() };
  const exec = createBuiltinTools()
    .tools()
    .find(({ name }) => name === "exec");
  if (exec === undefined) throw new Error("there is no exec tool");
  const context = {
    session: SessionId.from("01JZ0000000000000000000000"),
    turn: TurnId.from("01JZ0000000000000000000001"),
    callId: CallId.from("01JZ0000000000000000000002"),
    signal: new AbortController().signal,
    ports,
    depth: 0,
    step: 1,
    nesting: 0,
    originator: ClientId.from("01JZ0000000000000000000003"),
    annotate: () => undefined,
    call: async () => ({ content: [] }),
    progress: () => undefined,
    ask: async () => undefined,
  };
  const tool = async () => void (await exec.run({ command: ":" }, context));
  await tool();
  const policy = sandbox.policy();
  if (typeof policy === "string") throw new Error(policy);
  const { held } = policy;
  // As around the tool: files are put there before, folders are made by bubblewrap, and all of it goes afterwards.
  const placed = async (run: () => Promise<void>): Promise<void> => {
    for (const { path, placeholder } of held)
      if (placeholder !== "folder") writeFileSync(path, placeholder.content, { flag: "wx" });
    await run();
  };
  const cleared = (): void => {
    for (const { path } of held) rmSync(path, { recursive: true });
  };
  const bareLine = (...command: string[]): (() => Promise<void>) => {
    if (line === undefined) throw new Error("no command line was seen");
    const { file, args } = line;
    return () => bare(file, [...args.slice(0, args.indexOf("--") + 1), ...command]);
  };
  const bareTrue = bareLine("/bin/true");
  const bareShell = bareLine("/bin/bash", "-c", ":");
  const times = {
    tool: [] as number[],
    bwrap: [] as number[],
    shell: [] as number[],
    shellInside: [] as number[],
    minimal: [] as number[],
  };
  const minimal = [
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--unshare-user",
    "--unshare-pid",
    "--die-with-parent",
    "/bin/true",
  ];
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    const keep = (list: number[], ms: number) => void (round >= 0 && list.push(ms));
    keep(times.tool, await timed(tool));
    // Like the tool, it finds nothing at the names that are kept free.
    keep(times.bwrap, await timed(() => placed(bareTrue)));
    cleared();
    keep(times.shellInside, await timed(() => placed(bareShell)));
    cleared();
    keep(times.minimal, await timed(() => bare(line?.file ?? "bwrap", minimal)));
    keep(times.shell, await timed(() => bare("/bin/bash", ["-c", ":"])));
  }
  await sandbox.close();
  const listed = await measureListed(root, outside);
  rmSync(root, { recursive: true, force: true });
  const shellWork = Math.max(0, median(times.shellInside) - median(times.bwrap));
  const floor = median(times.bwrap);
  return [
    {
      name: "exec in the sandbox, without the work of the shell",
      unit: "ms",
      ours: median(times.tool) - shellWork,
      floor,
      maxRatio: MAX_RATIO,
    },
    { name: "exec in the sandbox, shell included", unit: "ms", ours: median(times.tool), floor },
    { name: "bwrap with one mount", unit: "ms", ours: median(times.minimal) },
    { name: "bash -c : in it with a list of domains (starts a forwarder)", unit: "ms", ours: listed },
    { name: "bash -c : without a sandbox", unit: "ms", ours: median(times.shell) },
  ];
}

async function measureListed(root: string, processes: ProcessPort): Promise<number> {
  const options = { env: process.env, ownPaths: [], clock: createSystemClock(), isSecret: isSecretFile } as const;
  const domains = createDomainList([["example.com"]]);
  const sandbox = createSandboxes(options).open({ mode: "required", root, processes, domains });
  const spec = { file: "bash", args: ["-c", ":"], confinement: "workspace", timeoutMs: 30_000 } as const;
  const times: number[] = [];
  for (let round = 0; round < LISTED_ROUNDS; round++) {
    times.push(await timed(async () => void (await sandbox.processes.run(spec, new AbortController().signal))));
  }
  await sandbox.close();
  return median(times);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** What the tool does at the least: start it, read its output and its status, wait until all of it is closed. */
function bare(file: string, args: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(file, [...args], { stdio: ["ignore", "pipe", "pipe", "pipe"], detached: true });
    for (const stream of child.stdio) if (stream && "resume" in stream) stream.resume();
    child.once("error", fail);
    child.once("close", (code) => (code === 0 ? done() : fail(new Error(`${file} ended with ${code}`))));
  });
}
