/** Commands that developers allow agents to run, and a way to run one of them outside or in the workspace confinement. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { createDomainList } from "#base";
import { isSecretFile } from "#governance";
import { createSandboxes } from "#sandbox";
import { createProcesses, createSystemClock, type Resolve } from "#world";
import { childEnvironment } from "../../src/world/child-environment.ts";

export interface WorkspaceCommand {
  readonly name: string;
  /** The fixture that the workspace begins with. */
  readonly on?: string;
  /** Prepares the workspace further: Bash, outside, before the session begins. */
  readonly setup?: string;
  /** An earlier call of the same session. */
  readonly before?: string;
  /** A call that still runs while the command runs. */
  readonly server?: string;
  readonly command: string;
  readonly expect?: {
    /** Default: 0. */
    readonly code?: number;
    /** A regular expression that both streams together match. */
    readonly output?: string;
  };
  /** Programs that must be installed. */
  readonly needs?: readonly string[];
  /** `packages`: the server of the tests. `npm`: the npm registry that this machine is configured for. */
  readonly network?: "packages" | "npm";
  /** Fails inside by design: it writes a file that the sandbox holds. What its output then matches. */
  readonly held?: string;
}

interface Corpus {
  /** Scripts that make a workspace. */
  readonly fixtures: Readonly<Record<string, readonly string[]>>;
  readonly commands: readonly WorkspaceCommand[];
}

const CORPUS = join(import.meta.dirname, "../corpora/workspace-commands.json");
const TIMEOUT_MS = 90_000;

export function workspaceCommands(): readonly WorkspaceCommand[] {
  return corpus().commands;
}

function corpus(): Corpus {
  // A file of this repository.
  return JSON.parse(readFileSync(CORPUS, "utf8")) as Corpus;
}

export interface CommandRun {
  /** Where workspaces are made. */
  readonly parent: string;
  readonly inside: boolean;
  readonly variables: Readonly<Record<string, string>>;
  /** The same as they are outside, for the setup. */
  readonly setupVariables: Readonly<Record<string, string>>;
  /** Hosts and addresses that the commands may reach; absent: every public host. */
  readonly domains?: readonly string[];
  readonly resolve?: Resolve;
}

export interface CommandResult {
  readonly works: boolean;
  readonly code: number | null;
  readonly output: string;
}

/** Runs one command in a workspace of its own. */
export async function runWorkspaceCommand(row: WorkspaceCommand, run: CommandRun): Promise<CommandResult> {
  const root = realpathSync(mkdtempSync(join(run.parent, "workspace-")));
  const env = plainEnvironment(run.parent);
  const scratchHome = await outsideHome(run.parent);
  const sandbox = createSandboxes({
    env,
    ownPaths: [],
    clock: createSystemClock(),
    isSecret: isSecretFile,
    ...(run.resolve && { resolve: run.resolve }),
  }).open({
    mode: "required",
    root,
    processes: createProcesses({ root, env }),
    ...(run.domains && { domains: createDomainList([run.domains]) }),
  });
  const call = async (script: string, signal = new AbortController().signal) => {
    let output = "";
    const onOutput = (_stream: string, chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    const spec = {
      file: "bash",
      args: ["-c", script],
      env: { ...run.variables, ...(run.inside ? {} : scratchHome) },
      timeoutMs: TIMEOUT_MS,
      confinement: run.inside ? ("workspace" as const) : ("outside" as const),
      onOutput,
    };
    const { code } = await sandbox.processes.run(spec, signal);
    return { code, output };
  };
  const stop = new AbortController();
  let server: Promise<unknown> | undefined;
  try {
    const prepared = await prepare(row, root, {
      ...childEnvironment(env, root),
      ...run.setupVariables,
      ...scratchHome,
    });
    if (prepared !== undefined) return { works: false, code: null, output: `setup failed: ${prepared}` };
    if (row.before !== undefined) await call(row.before);
    server = row.server === undefined ? undefined : call(row.server, stop.signal);
    const { code, output } = await call(row.command);
    const { code: wanted = 0, output: pattern = "" } = row.expect ?? {};
    return { works: code === wanted && new RegExp(pattern, "m").test(output), code, output };
  } finally {
    stop.abort();
    await server;
    await sandbox.close();
    // Go makes the folders of its modules read-only.
    spawnSync("chmod", ["-R", "u+rwX", root]);
    rmSync(root, { recursive: true, force: true });
  }
}

/** What went wrong, if anything did. */
async function prepare(
  { on, setup }: WorkspaceCommand,
  root: string,
  env: Record<string, string>,
): Promise<string | undefined> {
  const fixture = on === undefined ? [] : corpus().fixtures[on];
  if (fixture === undefined) return `there is no fixture ${on}`;
  const script = ["set -e", ...fixture, setup ?? ""].join("\n");
  const child = spawn("bash", ["-c", script], { cwd: root, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  const [code] = await once(child, "close");
  return code === 0 ? undefined : said;
}

/** Without what npm adds for its scripts: programs of this repository are not installed on the machine. */
function plainEnvironment(parent: string): Record<string, string | undefined> {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { ...process.env, PATH: path.join(delimiter), XDG_CACHE_HOME: join(parent, "caches") };
}

/** Nothing that runs outside writes to the person's home; it has that one's settings and toolchains. */
async function outsideHome(parent: string): Promise<Record<string, string>> {
  const home = join(parent, "home");
  for (const name of [".gitconfig", ".npmrc"]) {
    const from = join(homedir(), name);
    if (existsSync(from)) await cp(from, join(home, name), { force: false });
  }
  await mkdir(home, { recursive: true });
  return { HOME: home, RUSTUP_HOME: join(homedir(), ".rustup"), PYENV_ROOT: join(homedir(), ".pyenv") };
}
