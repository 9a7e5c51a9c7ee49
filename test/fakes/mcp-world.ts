/** Servers for tests: started as plain programs, without a sandbox, and ended with their process group. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { McpServer } from "#artifacts";
import { type Clock, defined } from "#base";
import type { Tool, ToolContext, ToolOutput } from "#engine";
import { createMcpServers, type McpWorld, type ServerProcess, type ToolKeeper } from "#mcp";
import { createSystemClock } from "#world";

/** How long a server has to end by itself. */
const END_GRACE_MS = 5_000;

const root = resolve(import.meta.dirname, "../..");

export interface SpawningWorld extends McpWorld {
  /** Ids of the processes that were started, oldest first. */
  readonly pids: readonly number[];
}

export function createSpawningWorld(): SpawningWorld {
  const pids: number[] = [];
  return {
    pids,
    fetch: (url, init) => fetch(url, init),
    start: ({ connection: { command, args, env } }, on, signal) =>
      new Promise<ServerProcess>((started, failed) => {
        const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, detached: true });
        const ended = new Promise<{ code: number | null; signal: string | null }>((done) => {
          child.on("close", (code, ending) => done({ code, signal: ending }));
        });
        child.stdin.on("error", () => undefined); // a program that has ended reads nothing
        child.stdout.on("data", (chunk: Buffer) => on.stdout(chunk));
        child.stderr.on("data", (chunk: Buffer) => on.stderr(chunk));
        child.on("error", failed);
        child.on("spawn", () => {
          const pid = child.pid!;
          pids.push(pid);
          const kill = () => {
            if (child.exitCode === null && child.signalCode === null) process.kill(-pid, "SIGKILL");
          };
          if (signal.aborted) kill();
          signal.addEventListener("abort", kill, { once: true });
          started({ write: (line) => void child.stdin.write(line), end: () => void child.stdin.end(), ended });
        });
      }),
  };
}

export function stdioServer(
  name: string,
  args: readonly string[],
  more: Partial<McpServer> & { readonly env?: Record<string, string> } = {},
): McpServer {
  const { env = {}, ...fields } = more;
  return {
    name,
    connection: {
      kind: "stdio",
      command: process.execPath,
      args,
      env,
      envVars: [],
      paths: [],
      network: [],
    },
    startupTimeoutMs: 30_000,
    toolTimeoutMs: 60_000,
    discovery: "eager",
    disabledTools: [],
    readOnlyTools: [],
    ...fields,
  };
}

/** One of the published reference servers: `everything`, `filesystem` or `memory`. */
export function referenceServer(
  kind: string,
  args: readonly string[] = [],
  more: Parameters<typeof stdioServer>[2] = {},
) {
  return stdioServer(
    kind,
    [resolve(root, `node_modules/@modelcontextprotocol/server-${kind}/dist/index.js`), ...args],
    more,
  );
}

/** A whole set of servers with what they logged, and a way to call a tool as the engine would. */
export function openServers(
  servers: readonly McpServer[],
  options: {
    readonly clock?: Clock;
    readonly world?: McpWorld;
    readonly keeper?: ToolKeeper;
    readonly root?: string;
  } = {},
) {
  const lines: string[] = [];
  const downs: unknown[] = [];
  const waiting: unknown[] = [];
  const world = options.world ?? createSpawningWorld();
  const set = createMcpServers({
    servers,
    world,
    clock: options.clock ?? createHastyClock(),
    onDown: (event) => void downs.push(event),
    onWaiting: (event) => void waiting.push(event),
    ...defined({ keeper: options.keeper, root: options.root }),
    log: (level, text) => void lines.push(`${level} ${text}`),
  });
  return {
    ...set,
    lines,
    downs,
    waiting,
    tool(name: string): Tool {
      const found = set.tools().find((tool) => tool.name === name);
      if (found === undefined) throw new Error(`${name} is not offered: ${set.tools().map((tool) => tool.name)}`);
      return found;
    },
    run(name: string, args: Record<string, unknown> = {}, more: Partial<ToolContext> = {}): Promise<ToolOutput> {
      const signal = new AbortController().signal;
      // A tool of a server uses these alone.
      const context = { ports: { servers: set.port }, signal, progress: () => undefined, ...more } as ToolContext;
      return this.tool(name).run(args, context);
    },
  };
}

/** The system's clock, but nobody waits 5 s for a server that ignores the end of its input. */
function createHastyClock(): Clock {
  const clock = createSystemClock();
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms === END_GRACE_MS ? 50 : ms, signal) };
}
