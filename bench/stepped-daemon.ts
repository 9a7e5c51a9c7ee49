/** A daemon as a real process, in a home of its own, whose wall clock can be stepped; and streams of clients that say when they end. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createParser } from "eventsource-parser";
import WebSocket from "ws";
import { isRecord } from "#base";
import type { Event } from "#protocol";
import { createSystemClock } from "#world";

const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");
const preload = pathToFileURL(resolve(import.meta.dirname, "stepped-clock.mjs")).href;
/** For what should be there at once, on a machine that is busy with other things. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 10;
const clock = createSystemClock();

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Stream {
  readonly events: Event[];
  readonly heartbeats: number;
  readonly isOpen: boolean;
  /** The first one after event `after`; rejects when it does not come. */
  next(kind: Event["kind"], after: number): Promise<Event>;
  close(): void;
}

export interface SteppedHome {
  readonly env: Readonly<Record<string, string>>;
  readonly workspace: string;
  readonly state: string;
  readonly daemon: ChildProcess | undefined;
  token(): string;
  /** By how much the wall clock is ahead of the machine's from now on; in force when it resolves. */
  step(ms: number): Promise<void>;
  start(): Promise<void>;
  /** SIGTERM unless another one is named; resolves when it has ended. */
  stop(signal?: "SIGKILL"): Promise<void>;
  cli(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  ask(token: string, method: string, path: string, body?: unknown): Promise<Answer>;
  sse(token: string, session: string): Promise<Stream>;
  webSocket(token: string, session: string): Promise<Stream>;
  remove(): void;
}

/** What its daemon runs with, instead of the scenario of the conformance suite. */
export interface SteppedHomeOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The whole `config.toml`. */
  readonly config?: string;
}

export function createSteppedHome({
  flags = ["-m", "scripted:conformance"],
  env: more = {},
  config,
}: SteppedHomeOptions = {}): SteppedHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-clock-")));
  const workspace = join(root, "w");
  mkdirSync(workspace);
  const stepFile = join(root, "step");
  writeFileSync(stepFile, "0");
  const [socketPath, state] = [join(root, "data/harness/control.sock"), join(root, "state/harness")];
  const tokenFile = join(state, "control.token");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: root,
    XDG_DATA_HOME: join(root, "data"),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CONFIG_HOME: join(root, "config"),
    XDG_CACHE_HOME: join(root, "cache"),
    NODE_OPTIONS: `--import ${preload}`,
    CLOCK_STEP_FILE: stepFile,
    ...more,
  };
  if (config !== undefined) {
    mkdirSync(join(root, "config/harness"), { recursive: true });
    writeFileSync(join(root, "config/harness/config.toml"), config);
  }
  let daemon: ChildProcess | undefined;

  const open = (token: string, method: string, path: string, body?: unknown): Promise<IncomingMessage> =>
    new Promise((done, fail) => {
      const headers = { host: "localhost", "x-harness-token": token };
      const outgoing = request({ socketPath, method, path, headers, agent: false }, done);
      outgoing.on("error", fail);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });

  return {
    env,
    workspace,
    state,
    get daemon() {
      return daemon;
    },
    token: () => readFileSync(tokenFile, "utf8").trim(),
    async step(ms) {
      writeFileSync(`${stepFile}.new`, String(ms));
      renameSync(`${stepFile}.new`, stepFile);
      const told = `${stepFile}.${daemon?.pid}`;
      if (daemon !== undefined) await until(() => readFileSync(told, "utf8") === String(ms), "the step in the daemon");
    },
    async start() {
      rmSync(tokenFile, { force: true });
      const args = [launcher, "daemon", "run", ...flags];
      const started = spawn(process.execPath, args, { cwd: workspace, env, stdio: "ignore" });
      daemon = started;
      await until(() => {
        if (started.exitCode !== null) throw new Error(`the daemon ended with ${started.exitCode}`);
        return existsSync(tokenFile);
      }, "the daemon");
    },
    async stop(signal) {
      const ending = daemon;
      daemon = undefined;
      if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
      const gone = new Promise((done) => ending.once("close", done));
      ending.kill(signal ?? "SIGTERM");
      await gone;
    },
    cli: (...args) =>
      new Promise((done) => {
        execFile(process.execPath, [launcher, ...args], { cwd: workspace, env }, (error, out, err) => {
          done({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
        });
      }),
    async ask(token, method, path, body) {
      const response = await open(token, method, path, body);
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
      return { status: response.statusCode ?? 0, body: isRecord(parsed) ? parsed : {} };
    },
    async sse(token, session) {
      const response = await open(token, "GET", `/v1/sessions/${session}/events?since=0`);
      if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
      const kept = createKept(() => response.destroy());
      const parser = createParser({
        onComment: () => kept.beat(),
        onEvent: ({ event, data }) => (event === "error" ? kept.end() : kept.add(JSON.parse(data) as Event)),
      });
      response.setEncoding("utf8").on("data", (chunk: string) => parser.feed(chunk));
      response.on("error", () => kept.end()).on("close", () => kept.end());
      return kept.stream;
    },
    async webSocket(token, session) {
      const headers = { host: "localhost", "x-harness-token": token };
      const socket = new WebSocket(`ws+unix:${socketPath}:/v1/ws?session=${session}&since=0`, { headers });
      const kept = createKept(() => socket.terminate());
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as { readonly frame: string; readonly body: Event };
        if (frame.frame === "event") kept.add(frame.body);
      });
      socket.on("ping", () => kept.beat());
      socket.on("error", () => kept.end()).on("close", () => kept.end());
      await new Promise((done) => socket.once("open", done));
      socket.send(JSON.stringify({ frame: "handshake", body: {} }));
      return kept.stream;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The whole log of a session, as the daemon serves it. */
export async function readLog(home: SteppedHome, session: string): Promise<readonly Event[]> {
  const log: Event[] = [];
  for (;;) {
    const path = `/v1/sessions/${session}/log?after=${log.at(-1)?.id ?? 0}&limit=500`;
    const { body } = await home.ask(home.token(), "GET", path);
    const page = body.events as readonly Event[];
    if (page.length === 0) return log;
    log.push(...page);
  }
}

function createKept(close: () => void) {
  const events: Event[] = [];
  let heartbeats = 0;
  let isOpen = true;
  const stream: Stream = {
    events,
    get heartbeats() {
      return heartbeats;
    },
    get isOpen() {
      return isOpen;
    },
    async next(kind, after) {
      const find = (): Event | undefined => events.find((event) => event.kind === kind && event.id > after);
      await until(() => {
        if (!isOpen) throw new Error(`the stream ended before ${kind}`);
        return find() !== undefined;
      }, kind);
      return find() as Event;
    },
    close,
  };
  return {
    stream,
    add: (event: Event) => void events.push(event),
    beat() {
      heartbeats += 1;
    },
    end() {
      isOpen = false;
    },
  };
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const startMs = clock.monotonicMs();
  for (;;) {
    try {
      if (holds()) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    if (clock.monotonicMs() - startMs > PATIENCE_MS) throw new Error(`${what} did not come`);
    await clock.sleep(LOOK_EVERY_MS);
  }
}
