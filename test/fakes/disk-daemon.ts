/**
 * A real daemon whose folders, all or some, are on a disk of a few megabytes. Real processes in a home of its own; no test library, for
 * benchmarks too.
 */
import { type ChildProcessByStdio, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { launcher, sharedCompileCache } from "./launcher.ts";
import { type MountedDisk, mountSmallDisk } from "./mounted-disk.ts";

const FOLDERS = ["data", "state", "config", "cache", "runtime", "tmp", "workspace"] as const;
export type Folder = (typeof FOLDERS)[number];
const ASK_PATIENCE_MS = 20_000;
const STOP_PATIENCE_MS = 15_000;

const SCENARIO = `
name: disks
rules:
  - when: { tool: exec }
    reply: [{ text: "done" }]
  - when: { tool: fs.write }
    reply: [{ text: "written" }]
  - when: { input: "/^work/" }
    reply: [{ tool: exec, args: { command: "echo line >> made.txt" } }]
  - when: { input: "/^slow/" }
    reply: [{ tool: exec, args: { command: "sleep 0.5; echo line >> made.txt" } }]
  - when: { input: "/^ask/" }
    reply: [{ tool: fs.write, args: { path: asked.txt, content: "{{input}}" } }]
  - when: { input: "/^many/" }
    reply: [${Array(50).fill('{ text: "{{input}}" }').join(", { pause_ms: 9 }, ")}]
  - when: { input: '/^echo (.*)/' }
    reply: [{ pause_ms: 300 }, { text: "{{input.1}}" }]
otherwise: [{ text: "still here" }]
`;

export interface LoggedEvent {
  readonly id: number;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  readonly payload: any;
}

export interface Asked {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: read as a foreign program would
  readonly json: any;
}

export interface DiskDaemon {
  readonly disk: MountedDisk;
  readonly workspace: string;
  /** Of its processes. */
  readonly env: Readonly<Record<string, string>>;
  /** For clients that talk to it in other ways. */
  place(): { readonly socket: string; readonly tokenFile: string; readonly token: string };
  /** Starts it in the foreground: undefined when it listens, or what it printed when it ended before. */
  start(): Promise<string | undefined>;
  /** SIGTERM; how it ended. */
  stop(): Promise<string>;
  /** How it has ended by now, if it has. */
  ended(): string | undefined;
  /** What the daemon has printed. */
  said(): string;
  ask(method: string, path: string, body?: unknown, token?: string): Promise<Asked>;
  /** Server-sent events of a session as they come, until `stop`. */
  follow(session: string): Promise<{ readonly kinds: () => readonly string[]; stop(): void }>;
  newSession(): Promise<string>;
  input(session: string, text: string, query?: string): Promise<Asked>;
  log(session: string): Promise<LoggedEvent[]>;
  /** Another process of the program, to its end. */
  run(...args: string[]): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** One whose standard input and output somebody talks to. */
  talk(...args: string[]): ChildProcessWithoutNullStreams;
  /** Ends all of it. */
  remove(): void;
}

export function createDiskDaemon(
  onDisk: readonly Folder[],
  flags: readonly string[] = [],
  mount = (): MountedDisk => mountSmallDisk("8m"),
): DiskDaemon {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-disks-")));
  const disk = mount();
  const places = Object.fromEntries(
    FOLDERS.map((name) => [name, join(onDisk.includes(name) ? disk.path : home, name)]),
  ) as Record<Folder, string>;
  for (const path of Object.values(places)) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "scenario.yaml"), SCENARIO);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    TMPDIR: places.tmp,
    XDG_DATA_HOME: places.data,
    XDG_STATE_HOME: places.state,
    XDG_CONFIG_HOME: places.config,
    XDG_CACHE_HOME: places.cache,
    ...sharedCompileCache,
    XDG_RUNTIME_DIR: places.runtime,
  };
  const socketPath = join(places.data, "harness", "control.sock");
  const tokenFile = join(places.state, "harness", "control.token");
  const model = ["-m", `scripted:${join(home, "scenario.yaml")}`, "--sandbox", "off"];
  const children = new Set<{ kill(signal: "SIGKILL"): unknown }>();
  let child: ChildProcessByStdio<null, Readable, Readable> | undefined;
  let ended: string | undefined;
  let said = "";
  let ownToken = "";

  function started<Child extends ReturnType<typeof spawn>>(made: Child): Child {
    children.add(made);
    made.once("close", () => children.delete(made));
    return made;
  }

  const daemon: DiskDaemon = {
    disk,
    workspace: places.workspace,
    env,
    place: () => ({ socket: socketPath, tokenFile, token: ownToken }),
    start() {
      said = "";
      ended = undefined;
      const args = [launcher, "daemon", "run", ...model, "--allow", "Bash(*)", ...flags];
      const made = started(
        spawn(process.execPath, args, { cwd: places.workspace, env, stdio: ["ignore", "pipe", "pipe"] }),
      );
      child = made;
      made.stdout.resume();
      let isReady = false;
      return new Promise((resolve) => {
        made.stderr.setEncoding("utf8").on("data", (chunk: string) => {
          said += chunk;
          if (isReady || !said.includes("the token is in")) return;
          isReady = true;
          ownToken = readFileSync(tokenFile, "utf8").trim();
          void daemon.ask("GET", "/v1/handshake").then(() => resolve(undefined));
        });
        made.once("close", (code, signal) => {
          ended = `code ${code}, signal ${signal}`;
          resolve(`${ended}: ${said}`);
        });
      });
    },
    async stop() {
      const made = child;
      if (made === undefined || ended !== undefined) return ended ?? "never began";
      const gone = new Promise((resolve) => made.once("close", resolve));
      const late = setTimeout(() => made.kill("SIGKILL"), STOP_PATIENCE_MS);
      made.kill("SIGTERM");
      await gone;
      clearTimeout(late);
      return ended ?? "";
    },
    ended: () => ended,
    said: () => said,
    ask: (method, path, body, token = ownToken) =>
      new Promise((resolve) => {
        const fail = (error: Error): void => resolve({ status: 0, json: { error: { message: error.message } } });
        const headers = { host: "localhost", "x-harness-token": token };
        const asked = request({ socketPath, method, path, headers, agent: false }, (response) => {
          textOf(response).then((text) => {
            resolve({ status: response.statusCode ?? 0, json: text === "" ? {} : JSON.parse(text) });
          }, fail);
        });
        asked.setTimeout(ASK_PATIENCE_MS, () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
        asked.on("error", fail);
        asked.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    follow(session) {
      const kinds: string[] = [];
      return new Promise((resolve, reject) => {
        const headers = { host: "localhost", "x-harness-token": ownToken };
        const path = `/v1/sessions/${session}/events`;
        const asked = request({ socketPath, path, headers, agent: false }, (response) => {
          response.setEncoding("utf8").on("data", (chunk: string) => {
            for (const [, kind = ""] of chunk.matchAll(/^event: (\w+)$/gm)) kinds.push(kind);
          });
          response.on("error", () => undefined);
          resolve({ kinds: () => kinds, stop: () => asked.destroy() });
        });
        asked.on("error", reject).end();
      });
    },
    async newSession() {
      const { status, json } = await daemon.ask("POST", "/v1/sessions", { working_dir: places.workspace });
      if (status !== 201) throw new Error(`no session: ${status} ${JSON.stringify(json)}`);
      return String(json.id);
    },
    input: (session, text, query = "?wait=turn") =>
      daemon.ask("POST", `/v1/sessions/${session}/input${query}`, { content: [{ type: "text", text }] }),
    async log(session) {
      const events: LoggedEvent[] = [];
      for (;;) {
        const after = events.at(-1)?.id ?? 0;
        const { status, json } = await daemon.ask("GET", `/v1/sessions/${session}/log?after=${after}&limit=1000`);
        if (status !== 200) throw new Error(`the log of ${session} cannot be read: ${JSON.stringify(json)}`);
        events.push(...json.events);
        if (json.next === null) return events;
      }
    },
    async run(...args) {
      const stdio = ["ignore", "pipe", "pipe"] as const;
      const made = started(
        spawn(process.execPath, [launcher, ...args], { cwd: places.workspace, env, stdio: [...stdio] }),
      ) as ChildProcessByStdio<null, Readable, Readable>;
      const code = new Promise<number | null>((resolve) => made.once("close", resolve));
      const [out, err] = await Promise.all([textOf(made.stdout), textOf(made.stderr)]);
      return { code: await code, out, err };
    },
    talk: (...args) =>
      started(spawn(process.execPath, [launcher, ...args, ...model], { cwd: places.workspace, env, stdio: "pipe" })),
    remove() {
      for (const one of children) one.kill("SIGKILL");
      disk.unmount();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return daemon;
}
