/**
 * The server of bench/large-sessions.ts in a process of its own: HTTP on a Unix socket, JSON-RPC on another, and over the channel of
 * its parent what it has used so far. `FOLDER STORE` on the command line.
 */
import { createServer } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { serveRpc } from "#transports/rpc";
import { createSystemClock } from "#world";
import { createOutward } from "../src/cli/outward.ts";
import { startBenchServer } from "./control-plane-server.ts";
import { keptLog, type StoreKind } from "./large-sessions-log.ts";

export interface Used {
  readonly cpuMs: number;
  /** The most that the event loop worked without a pause since it was asked last: CPU time, which other programs do not add to. */
  readonly blockedMs: number;
  /** The same as a clock has it. */
  readonly delayMs: number;
  readonly peakMb: number;
}

export interface Ready {
  readonly socketPath: string;
  readonly rpcPath: string;
}

const [folder = "", kind = "sqlite"] = process.argv.slice(2);
const bench = await startBenchServer(
  async ({ emit }) => emit({ type: "text", block: 0, text: "done" }),
  keptLog(folder, kind as StoreKind),
);
const clock = createSystemClock();
const outward = await createOutward({ env: { HOME: folder }, cwd: folder, clock }).load();
const rpcPath = `${bench.socketPath}.rpc`;
const rpcServer = createServer((socket) => {
  socket.on("error", () => undefined);
  void serveRpc({
    control: bench.harness.control,
    store: bench.harness.store,
    slashCommands: () => bench.harness.slashCommands(),
    clock,
    identityClass: "human",
    directory: join(folder, "work"),
    version: "0.0.0",
    input: socket,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("nobody reads any more"));
        socket.once("close", reject);
        socket.write(text, () => {
          socket.off("close", reject);
          resolve();
        });
      }),
    onClosed: () => socket.destroy(),
    shutdown: async () => undefined,
    outward,
    log: (line) => process.stderr.write(`${line}\n`),
  }).catch(() => socket.destroy());
});
await new Promise<void>((resolve) => rpcServer.listen(rpcPath, resolve));

const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
let blockedMs = 0;
let lastMs = threadMs();
setInterval(() => {
  const nowMs = threadMs();
  blockedMs = Math.max(blockedMs, nowMs - lastMs);
  lastMs = nowMs;
}, 1);
process.on("disconnect", () => process.exit(1));
process.on("message", (asked) => {
  if (asked === "end") return process.exit(0);
  const { user, system } = process.cpuUsage();
  const used: Used = {
    cpuMs: (user + system) / 1000,
    blockedMs,
    delayMs: loop.max / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1024,
  };
  loop.reset();
  blockedMs = 0;
  process.send?.(used);
});
process.send?.({ socketPath: bench.socketPath, rpcPath } satisfies Ready);

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
