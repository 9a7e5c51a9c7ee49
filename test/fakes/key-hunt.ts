/**
 * Runs the program with a key while one of its children waits, and looks for that key wherever the system shows it: the
 * environment and the arguments of every process of the program, its files, and the memory of the engine. Linux only.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ackProject } from "./ack-project.ts";
import { launcher } from "./launcher.ts";
import { type MockProviderServer, startMockProvider } from "./mock-provider-server.ts";

const CHUNK_BYTES = 1024 * 1024;
const POLL_MS = 10;
const WAIT_MS = 30_000;
const FILE_TOOL = `---
timeout_ms: 60000
script: |
  def run(args):
      return exec.run("sh", ["-c", "WAITING_COMMAND"], timeout_seconds=50)["stdout"]
---

# wait_here

Waits.
`;

export interface Hunt {
  readonly name: string;
  readonly flags: readonly string[];
  /** The call that the model makes. */
  readonly call: "exec" | "script";
  /** Whether the key is stored, instead of given in the environment. */
  readonly stored: boolean;
}

export interface Found {
  readonly processes: readonly string[];
  /** Where the key was seen; empty is what it should be. */
  readonly places: readonly string[];
  /** How often it is in the memory of the engine. */
  readonly inEngineMemory: number;
  /** The vendor got the key: otherwise nothing was looked at. */
  readonly sentToVendor: number;
  readonly exitCode: number | null;
}

export async function huntForKey({ flags, call, stored }: Hunt, secret: string): Promise<Found> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-hunt-")));
  const vendor = await startMockProvider();
  let child: ChildProcess | undefined;
  try {
    const folders = ["workspace", "tmp", "run"].map((name) => join(home, name));
    for (const folder of folders) mkdirSync(folder, { mode: 0o700 });
    const [workspace = "", temporary = "", runtime = ""] = folders;
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: home,
      TMPDIR: temporary,
      XDG_RUNTIME_DIR: runtime,
      OPENAI_BASE_URL: `${vendor.url}/v1`,
    };
    const command = "echo $$ > waiting; while [ ! -e go-on ]; do sleep 0.05; done";
    if (call === "script") {
      const folder = join(workspace, ".harness/tools");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "wait_here.md"), FILE_TOOL.replace("WAITING_COMMAND", command));
      await ackProject({ workspace, env });
    }
    if (stored) await storeKey(env, workspace, vendor, secret);
    vendor.reply(
      { type: "message", blocks: [toolCall(call, command)] },
      { type: "message", blocks: [{ type: "text", text: "done" }] },
    );
    const given = stored ? {} : { OPENAI_API_KEY: secret };
    const args = [launcher, "run", "-m", "openai:mock", "--allow", "Bash", "--allow", "wait_here", ...flags, "hello"];
    child = spawn(process.execPath, args, {
      cwd: workspace,
      env: { ...env, ...given },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => said.push(chunk));
    const closed = new Promise<number | null>((done) => child?.once("close", done));
    const isWaiting = await until(() => existsSync(join(workspace, "waiting")), closed);
    if (!isWaiting) throw new Error(`no child is waiting: ${Buffer.concat(said).toString()}`);
    const tree = processTree(child.pid ?? 0);
    const places = [...tree.flatMap((pid) => seenInProcess(pid, secret)), ...seenInFiles(home, secret)];
    const inEngineMemory = seenInMemory(child.pid ?? 0, secret);
    const processes = tree.map((pid) => shown(pid, "cmdline").replaceAll("\0", " ").trim().slice(0, 60));
    writeFileSync(join(workspace, "go-on"), "");
    const exitCode = await closed;
    const sent = vendor.requests.filter(({ headers }) => headers.authorization === `Bearer ${secret}`);
    return {
      processes,
      places: [...places, ...seenInFiles(home, secret)],
      inEngineMemory,
      sentToVendor: sent.length,
      exitCode,
    };
  } finally {
    child?.kill("SIGKILL");
    await vendor.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function toolCall(call: Hunt["call"], command: string) {
  const name = call === "exec" ? "exec" : "wait_here";
  const args = call === "exec" ? { command } : {};
  return { type: "tool_call" as const, name, arguments: JSON.stringify(args) };
}

async function storeKey(
  env: Record<string, string>,
  cwd: string,
  vendor: MockProviderServer,
  secret: string,
): Promise<void> {
  const args = [launcher, "creds", "add", "openai", "--host", vendor.url];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(secret);
  const code = await new Promise<number | null>((done) => child.once("close", done));
  if (code !== 0) throw new Error(`creds add ended with ${code}`);
}

async function until(condition: () => boolean, ended: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (let waitedMs = 0; waitedMs < WAIT_MS && !isOver; waitedMs += POLL_MS) {
    if (condition()) return true;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return condition();
}

/** Where a running program shows one of the secrets, and how often its own process has one in memory, beside its helper. */
export function seenWhileRunning(pid: number, home: string, secrets: readonly string[]) {
  const tree = processTree(pid);
  const places = secrets.flatMap((secret) => [
    ...tree.flatMap((one) => seenInProcess(one, secret)),
    ...seenInFiles(home, secret),
  ]);
  const inMemory = (of: number): number => secrets.reduce((sum, secret) => sum + seenInMemory(of, secret), 0);
  const helper = tree.find((one) => shown(one, "cmdline").includes("credential-helper"));
  return { places, inEngine: inMemory(pid), inHelper: helper === undefined ? 0 : inMemory(helper) };
}

/** The process and all below it. */
function processTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = shown(Number(name), "stat");
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const below = (pid: number): number[] => [
    pid,
    ...[...parents].filter(([, parent]) => parent === pid).flatMap(([child]) => below(child)),
  ];
  return below(root);
}

/** Empty when the process has ended meanwhile. */
function shown(pid: number, part: string): string {
  try {
    return readFileSync(`/proc/${pid}/${part}`, "latin1");
  } catch {
    return "";
  }
}

function seenInProcess(pid: number, secret: string): string[] {
  return ["environ", "cmdline", "comm"].flatMap((part) =>
    formsOf(secret).some((form) => shown(pid, part).includes(form)) ? [`${part} of ${shown(pid, "cmdline")}`] : [],
  );
}

function seenInFiles(folder: string, secret: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && statSync(path).size > 0)
    .filter((path) => formsOf(secret).some((form) => readFileSync(path, "latin1").includes(form)));
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex")];
}

function seenInMemory(pid: number, secret: string): number {
  const wanted = Buffer.from(secret);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  let count = 0;
  try {
    for (const line of shown(pid, "maps").split("\n")) {
      const [, from = "", to = "", mode = ""] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
      if (!mode.startsWith("rw")) continue;
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += CHUNK_BYTES) {
        const chunk = Buffer.alloc(Math.min(CHUNK_BYTES + wanted.length - 1, end - at));
        try {
          readSync(memory, chunk, 0, chunk.length, at);
        } catch {
          continue; // a page that cannot be read
        }
        for (let hit = chunk.indexOf(wanted); hit >= 0; hit = chunk.indexOf(wanted, hit + 1)) count += 1;
      }
    }
  } finally {
    closeSync(memory);
  }
  return count;
}
