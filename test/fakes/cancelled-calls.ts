/** A model call that is cancelled in each of its phases: how long until its turn has ended. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { errnoOf } from "#base";
import type { Event } from "#protocol";
import { type SocketFault, startFaultServer, type WireFamilyName } from "./fault-server.ts";
import { type FaultRig, faultModel, openFaultRig, type Road, type RunningFault } from "./fault-turns.ts";
import { anthropicEvents } from "./mock-anthropic-wire.ts";
import { openaiEvents } from "./mock-openai-wire.ts";

/** So long that none of them ends anything before the cancel does. */
const LONG = { headersMs: 60_000, firstTokenMs: 60_000, chunkMs: 60_000, stepMs: 120_000 } as const;
const SLOW_RETRY = { maxRetries: 3, initialBackoffMs: 60_000, maxBackoffMs: 60_000, multiplier: 1 } as const;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
/** How long a phase is given to be the one that it is; nothing says when a connection begins to be made. */
const SETTLE_MS = 100;

export interface CancelledCall {
  readonly phase: string;
  readonly family: WireFamilyName;
  readonly road: Road;
  readonly tookMs: number;
}

interface Phase {
  readonly name: string;
  readonly fault?: SocketFault;
  readonly atConnect?: true;
  readonly tls?: true;
  readonly isHole?: true;
  readonly isLimited?: true;
  /** What to wait for before the cancel; default: that the vendor was asked. */
  readonly until?: (event: Event) => boolean;
}

const isNotice = (event: Event): boolean => event.kind === "Error" && !event.payload.terminal;

function whole(family: WireFamilyName, count?: number): string {
  const reply = { type: "message", blocks: [{ type: "text", text: "hello to all", deltas: 3 }] } as const;
  const events = (family === "anthropic" ? anthropicEvents : openaiEvents)(reply, "mock");
  const first = events.findIndex((event) => event.includes("hell"));
  return HEAD + events.slice(0, count === undefined ? events.length : first + count).join("");
}

const phases: readonly Phase[] = [
  { name: "connecting", isHole: true },
  { name: "TLS handshake", fault: () => undefined, atConnect: true, tls: true },
  { name: "waiting for the headers", fault: () => undefined },
  { name: "waiting for the first token", fault: (socket) => socket.write(HEAD) },
  {
    name: "between chunks",
    fault: (socket, family) => socket.write(whole(family, 1)),
    until: ({ kind }) => kind === "TextDelta",
  },
  {
    name: "waiting before a retry",
    fault: (socket) => socket.end("HTTP/1.1 500 Oops\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
    until: isNotice,
  },
  {
    name: "waiting for the rate limit",
    isLimited: true,
    fault: (socket, family) => socket.end(whole(family)),
    until: isNotice,
  },
];

/** Every phase once, one after the other. */
export async function cancelInEachPhase(family: WireFamilyName, road: Road): Promise<readonly CancelledCall[]> {
  const hole = await startBlackHole();
  const servers = await Promise.all(phases.map(() => startFaultServer()));
  const models = phases.map((phase, at) => ({
    ...faultModel(family, `p${at}`, phase.isHole ? { port: hole.port } : servers[at], phase.tls),
    timeouts: LONG,
    retry: SLOW_RETRY,
  }));
  const limited = `${family}:p${phases.findIndex(({ isLimited }) => isLimited)}`;
  const rateLimits = { models: { [limited]: { requestsPerMinute: 1 } }, tools: [] };
  const rig = await openFaultRig(family, road, { models, rateLimits });
  const cancelled: CancelledCall[] = [];
  try {
    for (const [at, phase] of phases.entries()) {
      const server = servers[at];
      if (phase.fault !== undefined) server?.set(phase.fault, phase.atConnect);
      const asked = phase.isHole ? undefined : server?.next();
      let turn = await rig.begin(`${family}:p${at}`);
      if (phase.isLimited) {
        await turn.done;
        turn = await turn.again();
      }
      if (phase.until !== undefined) await turn.event(phase.until);
      else await (asked ?? turn.event(({ kind }) => kind === "TurnStarted"));
      await settle();
      cancelled.push({ phase: phase.name, family, road, tookMs: await turn.cancel() });
    }
    if (road === "helper") cancelled.push(...(await cancelWithStoppedHelper(rig, family)));
    return cancelled;
  } finally {
    await rig.close();
    await Promise.all(servers.map((server) => server.close()));
    hole.close();
  }
}

/** The process with the keys is there and does not answer: in the call, and before the first turn of a program. */
async function cancelWithStoppedHelper(rig: FaultRig, family: WireFamilyName): Promise<readonly CancelledCall[]> {
  const cancelled: CancelledCall[] = [];
  const measure = async (phase: string, stopped: FaultRig, begin: () => Promise<RunningFault>): Promise<void> => {
    const { pid } = stopped.credentials?.status() ?? {};
    if (pid === undefined) throw new Error("no helper");
    process.kill(pid, "SIGSTOP");
    try {
      const turn = await begin();
      await settle();
      cancelled.push({ phase, family, road: "helper", tookMs: await turn.cancel() });
    } finally {
      resume(pid);
    }
  };
  await measure("asking the process with the keys", rig, () => rig.begin(`${family}:p2`));
  const fresh = await openFaultRig(family, "helper", { models: [{ ...faultModel(family, "p0", undefined) }] });
  try {
    await measure("before the turn, with the keys unknown", fresh, () => fresh.begin(`${family}:p0`));
  } finally {
    await fresh.close();
  }
  return cancelled;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

/** A port on which connections are neither made nor refused: its queue is full, and nobody takes from it. */
export async function startBlackHole(): Promise<{ readonly port: number; close(): void }> {
  const program = `
    const server = require("node:net").createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      require("node:fs").writeSync(1, server.address().port + "\\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  const fillers = Array.from({ length: 4 }, () => createConnection({ port, host: "127.0.0.1" }));
  for (const filler of fillers) filler.on("error", () => undefined);
  await Promise.any(fillers.map((filler) => once(filler, "connect")));
  // The queue is full when a further connection does not come about: the kernel answers on loopback at once.
  const probe = createConnection({ port, host: "127.0.0.1" });
  probe.on("error", () => undefined);
  fillers.push(probe);
  const made = await Promise.race([once(probe, "connect").then(() => true), settle().then(() => false)]);
  if (made) throw new Error("the port takes connections");
  return {
    port,
    close() {
      for (const filler of fillers) filler.destroy();
      child.kill("SIGKILL");
    },
  };
}

/** Where the supervisor has replaced it meanwhile, there is nothing to resume. */
function resume(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
