/**
 * Runs the everyday commands that the judge lets pass, for real, and looks at what they did: each runs in bash under
 * strace in a scratch workspace, with the environment that tools get. Nothing may be written, removed, renamed or
 * connected, no program of the workspace or of a temporary folder may start, and the workspace must be the same
 * afterwards. Says which programs were started.
 * `node bench/shell-run.ts [commands]`; Linux with strace only.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "../src/world/child-environment.ts";
import { everydayCommands } from "../test/fakes/shell-corpora.ts";
import { createShellJudge } from "../test/fakes/shell-judge.ts";
import { createShellWorkspace } from "../test/fakes/shell-workspace.ts";
import { createRng } from "../test/fakes/tampering.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const RUN_TIMEOUT_MS = 3000;
/** Commands that are joined at random from quiet ones, besides the corpus itself. */
const JOINED = 200;
const JOINTS = [" && ", "; ", " | ", "\n", " || "];
const TRACED =
  "execve,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,connect";

/** Without the tools of this repository, which are no system programs. */
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";
const started = new Set<string>();

const out = (line: string): boolean => process.stdout.write(`${line}\n`);

if (spawnSync("strace", ["-V"]).status !== 0) {
  out("strace is not here; nothing was run");
  process.exit(1);
}
const workspace = createShellWorkspace();
const traces = mkdtempSync(join(tmpdir(), "harness-trace-"));
try {
  const commands = await quietCommands(Number(process.argv[2] ?? Number.POSITIVE_INFINITY));
  const before = treeHash(workspace.root);
  let effects = 0;
  for (const [index, command] of commands.entries()) {
    for (const effect of effectsOf(command, join(traces, `${index}`))) {
      effects++;
      out(`${JSON.stringify(command)}: ${effect}`);
    }
  }
  const changed = treeHash(workspace.root) === before ? 0 : 1;
  const figures: Figure[] = [
    { name: `effects of ${commands.length} quiet commands, seen by strace`, unit: "calls", ours: effects, limit: 0 },
    { name: "workspace changed by them", unit: "trees", ours: changed, limit: 0 },
  ];
  out(`started: ${[...started].toSorted().join(" ")}`);
  printFigures("quiet shell commands, run for real", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  workspace.remove();
  rmSync(traces, { recursive: true });
}

async function quietCommands(limit: number): Promise<string[]> {
  const { judge } = createShellJudge(workspace.root);
  const rows = everydayCommands().filter(({ expect }) => expect === "quiet");
  const quiet: string[] = [];
  for (const { command } of rows) {
    if ((await judge(command)).outcome === "allow") quiet.push(command);
  }
  const rng = createRng(5);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(rng() * items.length)] as T;
  const short = quiet.filter((command) => !/[\n#]|tail -f|sleep|<</.test(command));
  const joined: string[] = [];
  while (joined.length < JOINED) {
    const command = [pick(short), pick(short), pick(short)].join(pick(JOINTS));
    if ((await judge(command)).outcome === "allow") joined.push(command);
  }
  return [...quiet, ...joined].slice(0, limit);
}

/** What the command did that is more than reading. */
function effectsOf(command: string, trace: string): string[] {
  const env = childEnvironment({ ...process.env, PATH: SYSTEM_PATH }, workspace.root);
  spawnSync("strace", ["-f", "-q", "-s", "400", "-e", `trace=${TRACED}`, "-o", trace, "bash", "-c", command], {
    cwd: workspace.root,
    env,
    stdio: "ignore",
    timeout: RUN_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const lines = readFileSync(trace, "utf8").split("\n");
  rmSync(trace);
  return lines.flatMap((line) => {
    const call = /^\d+\s+(\w+)\((.*)$/.exec(line);
    // What failed had no effect; the search path is tried folder by folder.
    if (call === null || / = -1 E/.test(line)) return [];
    const [, name = "", rest = ""] = call;
    const path = /"([^"]*)"/.exec(rest)?.[1] ?? "";
    if (name === "execve") {
      started.add(path);
      return path.startsWith("/") && !path.startsWith(workspace.root) && !path.startsWith(tmpdir())
        ? []
        : [`starts ${path}`];
    }
    if (name === "openat" || name === "open") {
      const writes = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(rest);
      return writes && !/^\/dev\/(?:null|tty)$/.test(path) ? [`opens ${path} for writing`] : [];
    }
    if (name === "connect")
      return /AF_UNIX/.test(rest) && /nscd|systemd/.test(rest) ? [] : [`connects: ${rest.slice(0, 80)}`];
    return [`${name} ${path}`];
  });
}

function treeHash(root: string): string {
  const hash = createHash("sha256");
  const visit = (path: string): void => {
    const info = lstatSync(path);
    hash.update(`${path}\0${info.mode}\0${info.size}\0${info.mtimeMs}\0`);
    if (info.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (info.isDirectory()) for (const name of readdirSync(path).toSorted()) visit(join(path, name));
    else hash.update(readFileSync(path));
  };
  visit(root);
  // The clock of the disk is coarse; a changed index would also show in git's own view.
  hash.update(execFileSync("git", ["--no-optional-locks", "status", "--porcelain"], { cwd: root }));
  return hash.digest("hex");
}
