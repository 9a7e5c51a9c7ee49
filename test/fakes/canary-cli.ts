/** The program as users start it, on a place full of canaries: every command that prints, writes or fails. Free of any test library. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ackProject } from "./ack-project.ts";
import { sheetOf } from "./canaries.ts";
import { type CanaryPlace, type Exits, filesBelow, requestExits, storeExits } from "./canary-session.ts";
import { refusalReply, turnReplies } from "./canary-ways.ts";
import { launcher } from "./launcher.ts";

const WATCH_MS = 15;
const RUN_TIMEOUT_MS = 120_000;

export interface CliRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Arguments and environment of everything that it started. */
  readonly children: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export function runProgram(place: CanaryPlace, args: readonly string[], options: RunOptions = {}): Promise<CliRun> {
  const { stdin = "", env = {}, cwd = place.workspace } = options;
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: { ...place.env, ...env },
    timeout: RUN_TIMEOUT_MS,
  });
  const children = new Map<number, string>();
  const watch = setInterval(() => {
    if (child.pid !== undefined) lookAtChildren(child.pid, children);
  }, WATCH_MS);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said.out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said.err += chunk));
  child.stdin.on("error", () => undefined); // a program that failed early reads nothing
  child.stdin.end(stdin);
  return new Promise((done) => {
    child.once("close", (code) => {
      clearInterval(watch);
      done({ code, ...said, children: [...children.values()].join("\n") });
    });
  });
}

/** Looks again at each while it lives: a program changes its title, and a shell becomes another program. */
function lookAtChildren(parent: number, seen: Map<number, string>): void {
  const read = (pid: number, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8").replaceAll("\0", " ");
    } catch {
      return ""; // it has ended
    }
  };
  const ofParent = read(parent, "cmdline");
  for (const pid of read(parent, `task/${parent}/children`).trim().split(" ").filter(Boolean).map(Number)) {
    // Between fork and exec a child is still a copy of its parent, environment included; nothing runs in it.
    if (read(pid, "cmdline") === ofParent) continue;
    const look = `${read(pid, "cmdline")}\n${read(pid, "environ")}\n${read(pid, "comm")}`;
    const known = seen.get(pid) ?? "";
    if (!known.includes(look)) seen.set(pid, `${known}\n${look}`);
    lookAtChildren(pid, seen);
  }
}

/** Two sessions of everything, one that a vendor refuses, one in JSON lines, and then every command that reads. */
export async function runCanaryCli(place: CanaryPlace): Promise<Exits> {
  const { load, vendor, workspace } = place;
  const exits = new Map<string, string>();
  const note = async (name: string, run: Promise<CliRun>): Promise<CliRun> => {
    const done = await run;
    const add = (exit: string, text: string): unknown => exits.set(exit, `${exits.get(exit) ?? ""}\n${text}`);
    add(name, `${done.out}\n${done.err}`);
    add("arguments and environments of children", done.children);
    return done;
  };
  const harness = (name: string, args: readonly string[], options?: RunOptions): Promise<CliRun> =>
    note(name, runProgram(place, args, options));
  writeConfig(place, 'sandbox = "off"\n[tools]\non_error = "continue"\n[network]\nallowed_domains = ["localhost"]\n');
  await ackProject(place);
  const input = { stdin: sheetOf(load.input) };
  const turn = (): void => vendor.reply(...turnReplies(load, place.serverUrl, false));
  turn();
  const told = await harness("run --json", ["run", "--json", "--auto-approve", "-"], input);
  turn();
  await harness("run", ["run", "--auto-approve", "-"], input);
  vendor.reply(refusalReply(load));
  await harness("run, refused by the vendor", ["run", "-"], input);
  vendor.reply(refusalReply(load));
  await harness("run --json, refused", ["run", "--json", "-"], input);
  turn();
  await harness("run --store jsonl", ["run", "--store", "jsonl", "--auto-approve", "-"], input);
  const session = /"session":"(sess_\w+)"/.exec(told.out)?.[1] ?? "";
  const call = /"call_id":"(call_\w+)"/.exec(told.out)?.[1] ?? "";
  await readBack(harness, session, call);
  await failures(place, harness);
  const threads = filesBelow(join(workspace, ".harness", "threads"));
  exits.set("JSON lines store", threads.map((file) => readFileSync(file, "latin1")).join("\n"));
  for (const [name, text] of [...requestExits(vendor), ...storeExits(place)]) exits.set(name, text);
  return exits;
}

type Harness = (name: string, args: readonly string[], options?: RunOptions) => Promise<CliRun>;

/** Every command that prints what a log or a project holds. */
export async function readBack(harness: Harness, session: string, call: string): Promise<void> {
  const branch = (await harness("sessions branch", ["sessions", "branch", session])).out.trim();
  const commands: readonly (readonly string[])[] = [
    ["sessions", "list"],
    ["sessions", "list", "--json"],
    ["sessions", "show", session],
    ["sessions", "show", session, "--json"],
    ["sessions", "replay", session],
    ["sessions", "replay", session, "--json"],
    ["sessions", "diff", session, branch],
    ["sessions", "export", session],
    ["sessions", "export", session, "--format", "markdown"],
    ["sessions", "export", session, "--output", join("..", "tmp", "export.jsonl")],
    ["sessions", "doctor"],
    ["explain", call, "--session", session],
    ["inspect", "--events", "--failures", "--session", session],
    ["context", "-v"],
    ["tools", "-v"],
    ["cost", "--json"],
    ["audit", "verify", session],
    ["audit", "network", "--session", session],
    ["audit", "anchor", session, "--file", join("..", "tmp", "anchors")],
    ["undo", "--dry-run"],
  ];
  for (const args of commands) await harness(args.slice(0, 2).join(" "), args);
}

/** What is said when something is wrong: files, arguments, and the program itself. */
async function failures(place: CanaryPlace, harness: Harness): Promise<void> {
  const { home, load } = place;
  const [first] = load.input;
  const text = sheetOf(load.input);
  const lines = load.tool_error.map((canary) => canary.text);
  await harness("an unknown option", ["run", `--${lines[0] ?? first?.text ?? ""}`]);
  await harness("an unknown session, --json", ["run", "--json", "--resume", lines.join(" "), "hello"]);
  const broken = join(home, "broken");
  mkdirSync(join(broken, ".harness", "tools"), { recursive: true });
  const keys = lines.map((line, index) => `${JSON.stringify(`key${index} ${line}`)}: 1`).join("\n");
  writeFileSync(join(broken, "harness.md"), `---\n${keys}\nmodel: ${JSON.stringify(text)}\n---\n`);
  await harness("validate", ["validate"], { cwd: broken });
  await harness("validate --json", ["validate", "--json"], { cwd: broken });
  const settings = `max_steps = 3\n${lines.map((line) => `${JSON.stringify(line)} = 1`).join("\n")}\n`;
  writeConfig(place, settings);
  await harness("a configuration with unknown keys", ["run", "--store", "memory", "--no-project", "-"], {
    stdin: "hello",
  });
  writeConfig(place, `model = ${JSON.stringify(text)}\nsandbox = ${JSON.stringify(text)}\n`);
  await harness("a broken configuration", ["run", "--no-project", "hello"]);
  writeConfig(place, "");
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    const crashing = join(home, `${event}.mjs`);
    writeFileSync(crashing, crashScript(event, text));
    await harness(event, ["version"], { env: { NODE_OPTIONS: `--import ${crashing}` } });
  }
}

/** Fails as soon as the program listens for failures, with everything in the message. */
function crashScript(event: string, text: string): string {
  const failure = `new Error(${JSON.stringify(text)})`;
  const fail = event === "uncaughtException" ? `throw ${failure};` : `void Promise.reject(${failure});`;
  return `process.on("newListener", (name) => { if (name === "${event}") setImmediate(() => { ${fail} }); });\n`;
}

function writeConfig({ home }: CanaryPlace, text: string): void {
  mkdirSync(join(home, "config", "harness"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config", "harness", "config.toml"), text, { mode: 0o600 });
}
