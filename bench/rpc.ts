/**
 * JSON-RPC on pipes: how long a warm `initialize` and an answered approval take, how long a byte of the model takes to the client, and
 * what a reader that does not read costs. `node bench/rpc.ts`.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Figure, holds, printFigures } from "./figures.ts";

const HANDSHAKES = 500;
const APPROVALS = 100;
const PIECES = 200;
const PIECE_EVERY_MS = 20;
const SILENT_THREADS = 60;
const SILENT_MS = 8000;
const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");

const WRITER = `name: writer
rules:
  - when: {tool: fs.write}
    reply: [{text: "Done."}]
otherwise: [{tool: fs.write, args: {path: out.txt, content: "x"}}]
`;
const LOUD = `name: loud
rules:
  - when: {tool: exec}
    reply: [{text: "Done."}]
otherwise: [{tool: exec, args: {command: "yes abcdefghijklmnopqrstuvwxyz | head -c 1000000"}}]
`;

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly params?: any;
}

const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-rpc-")));
const work = join(home, "work");
mkdirSync(work);
const env = { PATH: process.env.PATH, HOME: home };
try {
  const figures = [...(await answers()), await stream(), ...(await silence())];
  printFigures("JSON-RPC", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function answers(): Promise<Figure[]> {
  writeFileSync(join(work, "writer.yaml"), WRITER);
  const rpc = start({}, "--model", "scripted:writer.yaml");
  await rpc.call("initialize");
  const handshakes: number[] = [];
  for (let i = 0; i < HANDSHAKES; i++) {
    const from = performance.now();
    await rpc.call("initialize");
    handshakes.push(performance.now() - from);
  }
  const threadId = await rpc.thread();
  const approvals: number[] = [];
  for (let i = 0; i < APPROVALS; i++) {
    const asked = rpc.see(({ method }) => method === "approval.requested");
    const ended = rpc.see(({ method }) => method === "turn.completed");
    await rpc.turn(threadId);
    const { requestId } = (await asked).params;
    const answered = rpc.see(({ method, params }) => method === "item.completed" && params.item.type === "approval");
    const from = performance.now();
    void rpc.call("approval.respond", { requestId, decision: "once" });
    await answered;
    approvals.push(performance.now() - from);
    await ended;
  }
  await rpc.end();
  return [
    { name: `initialize, warm, p95 of ${HANDSHAKES}`, unit: "ms", ours: p95(handshakes), limit: 5 },
    { name: `approval answered and told, durable, p95 of ${APPROVALS}`, unit: "ms", ours: p95(approvals), limit: 20 },
  ];
}

/** From the moment at which the model server writes a piece to that at which the client has all of it. */
async function stream(): Promise<Figure> {
  const sent: { readonly chars: number; readonly atMs: number }[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    let chars = 0;
    const timer = setInterval(() => {
      if (sent.length === PIECES) {
        clearInterval(timer);
        response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
        return;
      }
      const content = "and so on, ";
      chars += content.length;
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      sent.push({ chars, atMs: performance.now() });
    }, PIECE_EVERY_MS);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const key = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const rpc = start(key, "--model", "openai:bench");
  await rpc.call("initialize");
  const took: number[] = [];
  let received = 0;
  void rpc.see(({ method, params }) => {
    if (method === "item.delta") received += params.delta.text.length;
    const now = performance.now();
    for (const { atMs } of sent.slice(took.length).filter(({ chars }) => chars <= received)) took.push(now - atMs);
    return false;
  });
  const ended = rpc.see(({ method }) => method === "turn.completed");
  await rpc.turn(await rpc.thread());
  await ended;
  await rpc.end();
  server.close();
  return {
    name: `piece of text from the model to the client, p95 of ${took.length}`,
    unit: "ms",
    ours: p95(took),
    limit: 10,
  };
}

/** Many turns at once, and a client that does not read until they are over. */
async function silence(): Promise<Figure[]> {
  writeFileSync(join(work, "loud.yaml"), LOUD);
  const rpc = start({}, "--model", "scripted:loud.yaml", "--auto-approve", "--sandbox", "off");
  await rpc.call("initialize");
  const threads: string[] = [];
  for (let i = 0; i < SILENT_THREADS; i++) threads.push(await rpc.thread());
  const before = rssMb(rpc.child);
  const gaps: unknown[] = [];
  void rpc.see(({ method, params }) => {
    if (method === "stream.gap") gaps.push(params);
    return false;
  });
  for (const threadId of threads) void rpc.turn(threadId);
  rpc.child.stdout.pause();
  await new Promise((wait) => setTimeout(wait, SILENT_MS));
  const grown = rssMb(rpc.child) - before;
  rpc.child.stdout.resume();
  // Answered behind everything that waited.
  await rpc.call("thread.list");
  const lost = await unrecorded(rpc, threads);
  await rpc.end();
  return [
    { name: `memory that ${SILENT_THREADS} loud turns and no reader add`, unit: "MB", ours: grown, limit: 150 },
    { name: "turns that did not end meanwhile", unit: "turns", ours: lost, limit: 0 },
    { name: "threads that were told a gap", unit: "threads", ours: gaps.length },
  ];
}

async function unrecorded(rpc: Rpc, threads: readonly string[]): Promise<number> {
  let lost = 0;
  for (const threadId of threads) {
    const { events } = (await rpc.call("thread.get", { threadId })).result;
    if (!events.some(({ kind }: { kind: string }) => kind === "TurnEnded")) lost += 1;
  }
  return lost;
}

interface Rpc {
  readonly child: ChildProcessWithoutNullStreams;
  call(method: string, params?: object): Promise<Message>;
  thread(): Promise<string>;
  turn(threadId: string): Promise<Message>;
  /** Shown every message until it says yes. */
  see(fits: (message: Message) => boolean): Promise<Message>;
  end(): Promise<unknown>;
}

function start(extra: Readonly<Record<string, string>>, ...args: string[]): Rpc {
  const child = spawn(process.execPath, [launcher, "rpc", ...args], { cwd: work, env: { ...env, ...extra } });
  child.stderr.resume();
  const watchers = new Set<(message: Message) => void>();
  let rest = "";
  let lastId = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    // What the server writes is JSON-RPC.
    for (const line of lines) for (const watch of [...watchers]) watch(JSON.parse(line) as Message);
  });
  const rpc: Rpc = {
    child,
    call(method, params = {}) {
      const id = ++lastId;
      const answer = rpc.see((message) => message.id === id);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return answer;
    },
    thread: async () => (await rpc.call("thread.create")).result.thread.threadId,
    turn: (threadId) => rpc.call("turn.start", { threadId, input: [{ type: "text", text: "go" }] }),
    see: (fits) =>
      new Promise((resolve) => {
        const watch = (message: Message): void => {
          if (!fits(message)) return;
          watchers.delete(watch);
          resolve(message);
        };
        watchers.add(watch);
      }),
    end() {
      child.stdin.end();
      return new Promise((ended) => child.once("exit", ended));
    },
  };
  return rpc;
}

function rssMb({ pid }: ChildProcessWithoutNullStreams): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}
