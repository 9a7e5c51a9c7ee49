/** Turns of the whole program on vendors that do something wrong: how each ends, and how long a cancel takes in each phase. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "#artifacts";
import { defined } from "#base";
import type { ControlClient } from "#control";
import { createEnvironmentKeys, type HelperCredentials } from "#credentials";
import type { TurnSummary } from "#engine";
import type { Harness } from "#program";
import type { Event, SessionId } from "#protocol";
import { createSystemClock } from "#world";
import { programCredentials } from "../../src/program/credentials.ts";
import { type FaultServer, startFaultServer, type WireFamilyName } from "./fault-server.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { faultRetry, faultTimeouts, type ProviderFault } from "./provider-faults.ts";
import { helperFile } from "./test-credentials.ts";

/** Where the key is: in this process, or in the credential helper. */
export type Road = "held" | "helper";

/** A turn that takes this much longer than its budget hangs. */
const HANG_MS = 15_000;
/** So few that a busy machine does not make a fault of its own. */
const SIDE_BY_SIDE = 12;

export interface FaultTurn {
  readonly name: string;
  readonly tookMs: number;
  readonly asked: number;
  readonly summary?: TurnSummary;
  /** What is not as it has to be; undefined when all is. */
  readonly problem?: string;
}

export interface FaultRig {
  readonly harness: Harness;
  readonly credentials: HelperCredentials | undefined;
  readonly events: readonly Event[];
  /** Begins a turn in a new session with this model. */
  begin(model: string): Promise<RunningFault>;
  close(): Promise<void>;
}

export interface RunningFault {
  readonly session: SessionId;
  readonly done: Promise<TurnSummary>;
  /** The first event of this session that fits. */
  event(fits: (event: Event) => boolean): Promise<Event>;
  /** One more turn in the same session. */
  again(): Promise<RunningFault>;
  /** Cancels it; resolves to how long that took until the turn had ended. */
  cancel(): Promise<number>;
}

export async function openFaultRig(
  family: WireFamilyName,
  road: Road,
  settings: Partial<Settings> & Pick<Settings, "models">,
): Promise<FaultRig> {
  const folder = mkdtempSync(join(tmpdir(), "harness-faults-"));
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const env: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    HOME: folder,
    OPENAI_API_KEY: "sk-fault-0123456789abcdef",
    ANTHROPIC_API_KEY: "sk-fault-0123456789abcdef",
  };
  const left = { ...env };
  const credentials =
    road === "held"
      ? undefined
      : programCredentials({
          env: left,
          keys: createEnvironmentKeys(left, undefined),
          clock: createSystemClock(),
          file: helperFile,
        });
  const harness = await openMemoryHarness({
    env,
    workspace,
    model: settings.models[0]?.model ?? `${family}:none`,
    settings,
    ...defined({ credentials }),
  });
  const events: Event[] = [];
  const listeners = new Set<(event: Event) => void>();
  const client = harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent(event) {
      events.push(event);
      for (const listener of [...listeners]) listener(event);
    },
  });
  const eventOf = (session: SessionId, from: number, fits: (event: Event) => boolean): Promise<Event> => {
    const isIt = (event: Event): boolean => event.session === session && fits(event);
    const known = events.slice(from).find(isIt);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      const listener = (event: Event): void => {
        if (!isIt(event)) return;
        listeners.delete(listener);
        resolve(event);
      };
      listeners.add(listener);
    });
  };
  async function turnIn(session: SessionId): Promise<RunningFault> {
    const from = events.length;
    const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "hello" }] });
    if (done === undefined) throw new Error("no turn");
    return {
      session,
      done,
      event: (fits) => eventOf(session, from, fits),
      again: () => turnIn(session),
      async cancel() {
        const ended = eventOf(session, from, ({ kind }) => kind === "TurnEnded");
        const startMs = performance.now();
        await client.submit({ kind: "CancelTurn", session });
        await ended;
        return performance.now() - startMs;
      },
    };
  }
  return {
    harness,
    credentials,
    events,
    begin: async (model) => turnIn(await sessionWith(client, model)),
    async close() {
      await harness.shutdown();
      credentials?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function sessionWith(client: ControlClient, model: string): Promise<SessionId> {
  const { session } = await client.submit({ kind: "CreateSession", model });
  if (session === undefined) throw new Error("no session");
  return session;
}

/** One turn for each fault, some side by side; each on a server of its own. */
export async function runFaults(
  faults: readonly ProviderFault[],
  family: WireFamilyName,
  road: Road,
): Promise<readonly FaultTurn[]> {
  const servers = await Promise.all(faults.map(() => startFaultServer()));
  const models = faults.map((fault, at) => faultModel(family, `f${at}`, servers[at], fault.tls));
  const rig = await openFaultRig(family, road, { models });
  const turns: FaultTurn[] = [];
  try {
    // The first turn waits for the helper to start, which is not the vendor's fault.
    await rig.credentials?.told();
    for (let from = 0; from < faults.length; from += SIDE_BY_SIDE) {
      const some = faults.slice(from, from + SIDE_BY_SIDE);
      turns.push(...(await Promise.all(some.map((fault, at) => runFault(rig, fault, family, from + at, servers)))));
    }
    return turns;
  } finally {
    await rig.close();
    await Promise.all(servers.map((server) => server.close()));
  }
}

async function runFault(
  rig: FaultRig,
  fault: ProviderFault,
  family: WireFamilyName,
  number: number,
  servers: readonly FaultServer[],
): Promise<FaultTurn> {
  const server = servers[number];
  if (server === undefined) throw new Error("no server");
  server.set(fault.fault, fault.atConnect);
  const { done, event } = await rig.begin(`${family}:f${number}`);
  await event(({ kind }) => kind === "TurnStarted");
  const startMs = performance.now();
  const summary = await Promise.race([done, afterMs(faultTimeouts.stepMs + HANG_MS)]);
  const turn = { name: fault.name, tookMs: performance.now() - startMs, asked: server.asked };
  if (summary === undefined) return { ...turn, problem: "it hangs" };
  const problem = problemOf(fault, summary, server.asked);
  return { ...turn, summary, ...defined({ problem }) };
}

export function faultModel(
  family: WireFamilyName,
  name: string,
  server: Pick<FaultServer, "port"> | undefined,
  tls?: true,
) {
  const origin = `${tls === true ? "https" : "http"}://127.0.0.1:${server?.port ?? 9}`;
  return {
    model: `${family}:${name}`,
    baseUrl: family === "openai" ? `${origin}/v1` : origin,
    retry: faultRetry,
    timeouts: faultTimeouts,
  };
}

function problemOf(fault: ProviderFault, summary: TurnSummary, asked: number): string | undefined {
  const { outcome, reason, message = "" } = summary;
  if (fault.reason === undefined && outcome !== "answered") return `it ended with ${reason}: ${message}`;
  if (reason !== fault.reason) return `it ended with ${reason ?? outcome} instead of ${fault.reason}: ${message}`;
  if (fault.says !== undefined && !message.includes(fault.says))
    return `the message does not say ${fault.says}: ${message}`;
  const expected = fault.asked ?? 2;
  return asked === expected ? undefined : `the vendor was asked ${asked} times instead of ${expected}`;
}

function afterMs(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
