/**
 * The reader, measured: every everyday command that the corpus labels quiet is judged, and run in the reader and outside in the same
 * workspace; output and exit code must agree (the exit code alone where the corpus says that the output names the clock, processes,
 * mounts, the user or the host). Then what the reader adds to a plain spawn, interleaved in one run.
 * `node bench/reader.ts [rounds]`; run it as an ordinary user and as root.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ProcessPort } from "#base";
import { isSecretFile } from "#governance";
import { createSandboxes } from "#sandbox";
import { createProcesses, createSystemClock } from "#world";
import { childEnvironment } from "../src/world/child-environment.ts";
import { everydayCommands } from "../test/fakes/shell-corpora.ts";
import { createShellJudge } from "../test/fakes/shell-judge.ts";
import { createShellWorkspace } from "../test/fakes/shell-workspace.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const NEVER = new AbortController().signal;
const TIMEOUT_MS = 10_000;
const WARM_ROUNDS = 5;
/** In percent. */
const MAX_OTHER = 2.5;
const MAX_NEEDLESS = 2;
const MAX_ADDED_MS = 12;
const rounds = Number(process.argv[2] ?? 60);
const out = (line: string): boolean => process.stdout.write(`${line}\n`);

const workspace = createShellWorkspace();
/** Without the tools of this repository, which are not programs of the machine. */
const env = {
  ...process.env,
  PATH: (process.env.PATH ?? "")
    .split(":")
    .filter((path) => !path.includes("node_modules"))
    .join(":"),
};
const processes = createProcesses({ root: workspace.root, env });
const sandbox = createSandboxes({
  env,
  ownPaths: [],
  clock: createSystemClock(),
  isSecret: isSecretFile,
}).open({ mode: "required", root: workspace.root, processes });
try {
  const figures = [...(await compareOutputs()), ...(await measureCost())];
  printFigures(`reader (${process.getuid?.() === 0 ? "root" : "ordinary user"})`, figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  await sandbox.close();
  workspace.remove();
}

interface Ran {
  /** The word instead of the number for one that was ended by its limit. */
  readonly code: number | string | null;
  readonly said: string;
}

async function run(port: ProcessPort, command: string, confinement: "reader" | "outside"): Promise<Ran> {
  let said = "";
  const onOutput = (stream: string, chunk: Buffer): void => {
    if (stream === "stdout") said += chunk.toString("utf8");
  };
  const spec = { file: "bash", args: ["-c", command], timeoutMs: TIMEOUT_MS, confinement, onOutput };
  const { code, ended } = await port.run(spec, NEVER);
  return { code: ended === "exit" ? code : ended, said };
}

async function compareOutputs(): Promise<Figure[]> {
  const { judge } = createShellJudge(workspace.root);
  const rows = everydayCommands().filter(({ expect }) => expect === "quiet");
  const count = { quiet: 0, agreeing: 0 };
  for (const { command, compare } of rows) {
    if ((await judge(command)).outcome !== "allow") {
      out(`asks: ${JSON.stringify(command)}`);
      continue;
    }
    count.quiet++;
    const outside = await run(processes, command, "outside");
    const inside = await run(sandbox.processes, command, "reader");
    const isSame = inside.code === outside.code && (compare === "exit" || inside.said === outside.said);
    if (isSame) count.agreeing++;
    else out(`differs: ${JSON.stringify({ command, outside: brief(outside), inside: brief(inside) })}`);
  }
  const share = (part: number): number => (100 * part) / rows.length;
  return [
    {
      name: `of ${rows.length} commands labelled quiet: asks or differs`,
      unit: "%",
      ours: 100 - share(count.agreeing),
      limit: MAX_OTHER,
    },
    { name: "needless questions", unit: "%", ours: 100 - share(count.quiet), limit: MAX_NEEDLESS },
  ];
}

function brief({ code, said }: Ran): Ran {
  return { code, said: said.slice(0, 300) };
}

async function measureCost(): Promise<Figure[]> {
  const times = { spawn: [] as number[], reader: [] as number[], workspace: [] as number[] };
  const plainEnv = childEnvironment(env, workspace.root);
  const timed = async (list: number[], work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now();
    await work();
    list.push(performance.now() - startedMs);
  };
  const spec = { file: "bash", args: ["-c", "printf x"], timeoutMs: TIMEOUT_MS };
  for (let round = 0; round < rounds + WARM_ROUNDS; round++) {
    await timed(times.spawn, async () => {
      const child = spawn("bash", ["-c", "printf x"], {
        cwd: workspace.root,
        env: plainEnv,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.resume();
      child.stderr.resume();
      await once(child, "close");
    });
    await timed(times.reader, () => sandbox.processes.run({ ...spec, confinement: "reader" }, NEVER));
    await timed(times.workspace, () => sandbox.processes.run({ ...spec, confinement: "workspace" }, NEVER));
  }
  const middle = (list: readonly number[]): number => median(list.slice(WARM_ROUNDS));
  const plain = middle(times.spawn);
  const isUser = process.getuid?.() !== 0;
  return [
    { name: "plain spawn of bash -c 'printf x'", unit: "ms", ours: plain },
    { name: "the reader adds", unit: "ms", ours: middle(times.reader) - plain, ...(isUser && { limit: MAX_ADDED_MS }) },
    { name: "the workspace confinement adds", unit: "ms", ours: middle(times.workspace) - plain },
  ];
}
