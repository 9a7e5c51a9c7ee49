/**
 * The program as users start it, under strace: one session with built-in tools, commands in the sandbox, script tools, a hook
 * that sends something and calls that are refused. Then every system call that writes, removes, renames, connects or starts a
 * program is joined to a receipt of the exported log, or to one of the program's own files that are named here.
 * `node bench/receipts-strace.ts`; Linux with strace.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { protectedNames } from "#base";
import type { Event } from "#protocol";
import { ackProject } from "../test/fakes/ack-project.ts";
import { type Figure, holds, printFigures } from "./figures.ts";
import { readSystemCalls, type SystemCall, TRACED } from "./strace-log.ts";

const RUN_TIMEOUT_MS = 240_000;
const SHOWN = 30;
/** Empty folders that keep a name free while a command runs. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  ".git/hooks",
  ...protectedNames().flatMap(({ name, missing }) => (missing === "hold" ? [name] : [])),
]);
const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");
const out = (line: string): boolean => process.stdout.write(`${line}\n`);

if (spawnSync("strace", ["-V"]).status !== 0) {
  out("SKIPPED: strace is not here; nothing was run and nothing is proven");
  process.exit(1);
}

const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-strace-")));
const workspace = join(home, "workspace");
const env = {
  PATH: process.env.PATH ?? "",
  HOME: home,
  XDG_DATA_HOME: `${home}/data`,
  XDG_CONFIG_HOME: `${home}/config`,
  XDG_STATE_HOME: `${home}/state`,
  XDG_CACHE_HOME: `${home}/cache`,
};
const server = createServer((request, response) => {
  request.resume();
  response.end("hello");
});
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
const address = `127.0.0.1:${(server.address() as AddressInfo).port}`; // listens on TCP
try {
  for (const [file, content] of Object.entries(projectFiles(`http://${address}`))) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), content);
  }
  const figures = judge(await session());
  printFigures("receipts under strace", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
}

async function session(): Promise<{ calls: readonly SystemCall[]; events: readonly Event[] }> {
  const trace = join(home, "trace");
  await ackProject({ workspace, env });
  const flags = ["-m", "scripted:./model.yaml", "--json", "--allowed-domain", "127.0.0.1"];
  const allowed = ["fs.*", "Bash", "web.fetch", "files", "run", "send", "inner", "meta.*"].flatMap((rule) => [
    "--allow",
    rule,
  ]);
  const denied = ["--deny", "Write(denied/**)"];
  const told = await run("strace", [
    ...["-f", "-y", "-ttt", "-s", "4096", "-e", `trace=${TRACED}`, "-o", trace],
    ...[process.execPath, launcher, "run", ...flags, ...allowed, ...denied, "go"],
  ]);
  const first = told.split("\n")[0] ?? "";
  const id = /"session":"(sess_\w+)"/.exec(told)?.[1];
  if (id === undefined) throw new Error(`there was no session: ${first}`);
  const log = await run(process.execPath, [launcher, "sessions", "export", id]);
  const events = log
    .split("\n")
    .filter((line) => line.includes('"kind"'))
    .map((line) => JSON.parse(line) as Event);
  return { calls: readSystemCalls(readFileSync(trace, "utf8")), events };
}

/** A server runs in this process, so nothing here may block. */
async function run(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, {
    cwd: workspace,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) out(`exit code ${String(code)}: ${stderr.slice(-2000)}`);
  return stdout;
}

interface Receipt {
  readonly call: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly effects: readonly { readonly port: string; readonly target: string }[];
}

function judge({ calls, events }: Awaited<ReturnType<typeof session>>): Figure[] {
  const receipts = receiptsOf(events);
  const joined = new Map<string, number>();
  const unjoined: string[] = [];
  for (const call of calls) {
    const to = joinedTo(call, receipts, events);
    if (to === undefined) unjoined.push(`${call.engine ? "engine" : `started ${call.pid}`} ${call.line.slice(0, 300)}`);
    else joined.set(to, (joined.get(to) ?? 0) + 1);
  }
  for (const line of unjoined.slice(0, SHOWN)) out(`unjoined: ${line}`);
  for (const [to, count] of [...joined].toSorted()) out(`${String(count).padStart(6)}  ${to}`);
  // A control: without any one of the receipts something would be left over.
  const needless = receipts
    .filter(({ effects }) => effects.length > 0)
    .filter((left) => {
      const others = receipts.filter((receipt) => receipt !== left);
      return calls.every((call) => joinedTo(call, others, events) !== undefined);
    });
  for (const { call, effects } of needless) out(`would not be missed: ${call} ${JSON.stringify(effects)}`);
  const refused = events.filter(
    ({ kind, payload }) => kind === "ToolResult" && (payload as { outcome: string }).outcome === "denied",
  );
  const effects = receipts.flatMap((receipt) => receipt.effects);
  const unseen = effects.filter(({ port, target }) => !calls.some((call) => showsEffect(call, port, target)));
  for (const { port, target } of unseen) out(`on a receipt, not seen: ${port} ${target}`);
  return [
    {
      name: `system calls without a receipt, of ${calls.length} with an effect`,
      unit: "calls",
      ours: unjoined.length,
      limit: 0,
    },
    {
      name: `effects of ${receipts.length} receipts that no system call shows, of ${effects.length}`,
      unit: "effects",
      ours: unseen.length,
      limit: 0,
    },
    { name: "receipts with effects that would not be missed", unit: "receipts", ours: needless.length, limit: 0 },
    {
      name: "kinds of effects that did not occur",
      unit: "kinds",
      ours: 5 - new Set(effects.map(({ port }) => port)).size,
      limit: 0,
    },
    { name: "refused calls that were missing", unit: "calls", ours: Math.max(0, 2 - refused.length), limit: 0 },
  ];
}

function receiptsOf(events: readonly Event[]): Receipt[] {
  const started = new Map<string, number>();
  const receipts: Receipt[] = [];
  for (const event of events) {
    if (event.kind === "ToolIntent") started.set(event.payload.call_id, Date.parse(event.ts));
    if (event.kind !== "ToolOutcome") continue;
    const fromMs = started.get(event.payload.call_id);
    if (fromMs === undefined) continue;
    // Stamps are whole milliseconds.
    receipts.push({
      call: event.payload.call_id,
      fromMs,
      untilMs: Date.parse(event.ts) + 1,
      effects: event.payload.effects ?? [],
    });
  }
  return receipts;
}

/** What accounts for the call; undefined when nothing does. */
function joinedTo(call: SystemCall, receipts: readonly Receipt[], events: readonly Event[]): string | undefined {
  const during = receipts.filter(({ fromMs, untilMs }) => call.atMs >= fromMs && call.atMs <= untilMs);
  const running = during.some(({ effects }) => effects.some(({ port }) => port === "process"));
  if (!call.engine) return running ? `receipt: ${call.name} by a program of a process effect` : undefined;
  if (call.name === "execve") return isLauncher(call) ? "own: the program itself" : undefined;
  if (call.address !== undefined) {
    const isEffect = during.some(({ effects }) =>
      effects.some(({ port, target }) => port === "connect" && target === call.address),
    );
    if (isEffect) return "receipt: connect effect of a call";
    if (hookSent(call, events)) return "receipt: HookIntent";
    const isProxied = (event: Event): boolean =>
      event.kind === "NetworkConnection" &&
      event.payload.state === "opened" &&
      Date.parse(event.ts) <= call.atMs &&
      `${event.payload.host}:${event.payload.port}` === call.address;
    if (running && events.some(isProxied)) return "receipt: NetworkConnection of the egress proxy";
    return call.address.startsWith("unix:/var/run/nscd") ? "own: name service of the system" : undefined;
  }
  const kinds = call.paths.map((path) => pathAccount(path, call, during, running));
  return kinds.includes(undefined) ? undefined : kinds[0];
}

/** Between the intent of a hook and what the hooks of that moment said in the end. */
function hookSent(call: SystemCall, events: readonly Event[]): boolean {
  return events.some((event, at) => {
    if (event.kind !== "HookIntent" || event.payload.target !== call.address) return false;
    const ended = events.slice(at).find(({ kind }) => kind === "HooksAsked");
    return Date.parse(event.ts) <= call.atMs && ended !== undefined && call.atMs <= Date.parse(ended.ts) + 1;
  });
}

function pathAccount(path: string, call: SystemCall, during: readonly Receipt[], running: boolean): string | undefined {
  if (path.startsWith(`${workspace}/`)) {
    const relative = path.slice(workspace.length + 1);
    const named = during
      .flatMap(({ effects }) => effects)
      .filter(({ port }) => port !== "process" && port !== "connect");
    if (named.some(({ port, target }) => touches(port, target, relative)))
      return `receipt: ${call.name} of a file effect`;
    const isPlaceholder = PLACEHOLDERS.has(relative) && /^(?:rmdir|unlinkat)$/.test(call.name);
    return running && isPlaceholder ? "own: placeholder of the sandbox taken away" : undefined;
  }
  const own: readonly (readonly [RegExp, string])[] = [
    [/^\/dev\/(?:null|tty|pts\/\d+)$/, "own: terminal and /dev/null"],
    [/\/data\/harness\/undo(?:\/|$)/, "own: what undo keeps"],
    [/\/data\/harness\/[^/]*\.db(?:-wal|-shm|-journal)?$/, "own: session log"],
    [/\/(?:data|config|state)(?:\/harness)?(?:\/[^/]*)?$/, "own: keys, state and their folders"],
    [/\/state\/harness\/heads\//, "own: last known heads"],
    [/\/cache(?:\/|$)/, "own: parse and compile cache"],
    [/\/harness-sandbox-[^/]+(?:\/|$)/, "own: scratch folder of the sandbox"],
    [/\/harness-status-[0-9a-f]+(?:-\d)?$/, "own: channel to a started process, without a name"],
    [/^\/sys\/fs\/cgroup\/(?:pids\/)?harness-[0-9a-f-]+(?:\/(?:pids\.max|cgroup\.procs))?$/, "own: limit on processes"],
  ];
  const inside = [`${home}/`, "/dev/", tmpdir(), "/sys/fs/cgroup/"].some((folder) => path.startsWith(folder));
  return inside ? own.find(([pattern]) => pattern.test(path))?.[1] : undefined;
}

/** The file itself, the folders above it, and the temporary file beside it that takes its place. */
function touches(port: string, target: string, relative: string): boolean {
  const files = port === "move" ? target.split(" → ") : [target.replace(/\/$/, "")];
  return files.some((file) => {
    if (relative === file || file.startsWith(`${relative}/`) || (port === "remove" && relative.startsWith(`${file}/`)))
      return true;
    return (
      dirname(relative) === dirname(file) &&
      /^\.harness-[0-9a-f]{16}\.tmp$/.test(relative.slice(relative.lastIndexOf("/") + 1))
    );
  });
}

function showsEffect(call: SystemCall, port: string, target: string): boolean {
  if (port === "connect") return call.engine && call.address === target;
  if (port === "process") return !call.engine && call.name === "execve";
  const relative = call.paths.map((path) =>
    path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : undefined,
  );
  return call.engine && relative.some((path) => path !== undefined && touches(port, target, path));
}

/** The first program; strace starts it. */
function isLauncher(call: SystemCall): boolean {
  return call.line.includes(`"${process.execPath}"`) && call.line.includes(launcher);
}

function projectFiles(url: string): Record<string, string> {
  const steps: readonly (readonly [string, object])[] = [
    ["fs.write", { path: "made/deep/a.txt", content: "one" }],
    ["fs.edit", { path: "made/deep/a.txt", old_text: "one", new_text: "two" }],
    ["fs.move", { from: "made/deep/a.txt", to: "b.txt" }],
    ["fs.read", { path: "b.txt" }],
    ["fs.search", { pattern: "two", path: "." }],
    ["exec", { command: "mkdir -p from && echo x > from/exec.txt && cat b.txt && rm from/exec.txt" }],
    ["exec", { command: `curl -s ${url}/proxied` }],
    ["files", { path: "script.txt" }],
    ["run", {}],
    ["send", { url }],
    ["inner", { path: "inner.txt" }],
    ["meta.call_tool", { name: "fs.write", args: { path: "meta.txt", content: "x" } }],
    ["web.fetch", { url: `${url}/page` }],
    ["fs.write", { path: "denied/a.txt", content: "never" }],
    ["fs.write", { path: "blocked/a.txt", content: "never" }],
    ["fs.remove", { path: "b.txt" }],
    ["fs.remove", { path: "made", recursive: true }],
  ];
  const rules = steps.map(([tool, args], index) => {
    return `  - when: { step: ${index + 1} }\n    reply: [{ tool: ${tool}, args: ${JSON.stringify(args)} }]\n`;
  });
  const tool = (parameters: string, script: string): string =>
    `---\nparameters: {${parameters}}\nscript: |\n${script.replace(/^/gm, "  ")}\n---\n\nFor the proof.\n`;
  const hook = (event: string, when: string, script: string): string =>
    `---\nevent: ${event}\npriority: 5\nwhen: ${when}\nscript: |\n  def handle(event, payload):\n      ${script}\n---\n`;
  return {
    "harness.md": "---\nmeta: { enabled: true }\n---\n\nBe brief.\n",
    "model.yaml": `name: proof\nrules:\n${rules.join("")}otherwise: [{ text: done }]\n`,
    ".harness/tools/files.md": tool(
      " path: { type: string } ",
      'def run(args):\n    p = args["path"]\n    fs.mkdir("scripts")\n    fs.write(p, "a")\n    fs.append(p, "b")\n    fs.copy(p, "scripts/" + p)\n    fs.move(p, p + ".moved")\n    fs.remove(p + ".moved")\n    return "ok"',
    ),
    ".harness/tools/run.md": tool("", 'def run(args):\n    return exec.run("touch", ["ran.txt"])["exit_code"]'),
    ".harness/tools/send.md": tool(
      " url: { type: string } ",
      'def run(args):\n    http.get(args["url"] + "/get")\n    return http.post(args["url"] + "/post", "x")["status"]',
    ),
    ".harness/tools/inner.md": tool(
      " path: { type: string } ",
      'def run(args):\n    return meta.call_tool("fs.write", {"path": args["path"], "content": "x"})',
    ),
    ".harness/hooks/guard.md": hook(
      "tool.pre",
      'str(payload["args"].get("path", "")).startswith("blocked/")',
      'return block("not there")',
    ),
    ".harness/hooks/report.md": hook(
      "tool.post",
      'payload["name"] == "fs.move"',
      `return allow() if http.post("${url}/report", "x") else block("x")`,
    ),
  };
}
