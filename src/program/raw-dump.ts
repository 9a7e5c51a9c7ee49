/**
 * What goes to a model and what comes back, for a session that somebody asked to see: lines of JSON in a file of that session, which
 * only its owner can read. The file is the switch: while it is there and its time is not over, calls are written to it. Secrets are
 * taken out of every line; one that cannot be cleaned is not written.
 */
import { appendFileSync, closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, messageOf } from "#base";
import type { CallTrace, ModelEvent } from "#engine";
import type { SessionId } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { makePrivateDirectory, removePrivateFile, writePrivateFile } from "#world";
import type { ProgramPorts } from "./ports.ts";

const DUMP_MAX_BYTES = 64 * 1024 * 1024;
const HEAD_MAX_BYTES = 1_000;

type DumpPorts = Pick<ProgramPorts, "env" | "clock" | "outward" | "terminal">;

export function dumpFile(env: ProgramPorts["env"], session: SessionId): string {
  return join(harnessPaths(env).stateDir, "debug", `${session}.jsonl`);
}

/** Begins anew. */
export function beginDump({ env, clock }: Pick<DumpPorts, "env" | "clock">, session: SessionId, forMs: number): string {
  const path = dumpFile(env, session);
  makePrivateDirectory(join(path, ".."));
  const [ts, until] = [clock.now(), clock.now() + forMs].map((ms) => new Date(ms).toISOString());
  writePrivateFile(path, `${JSON.stringify({ ts, kind: "begin", session, until })}\n`, { durable: false });
  return path;
}

/** False when there was none. */
export function endDump(env: ProgramPorts["env"], session: SessionId): boolean {
  const path = dumpFile(env, session);
  const wasThere = existsSync(path);
  removePrivateFile(path);
  return wasThere;
}

/** What `traceCall` of a harness is: looks once before each call whether anybody wants to see it. */
export function createRawDump(ports: DumpPorts): (session: SessionId) => CallTrace | undefined {
  const { env, clock } = ports;
  let calls = 0;
  return (session) => {
    const path = wantedDump(env, session, clock.now());
    if (path === undefined) return undefined;
    calls += 1;
    const call = `${process.pid}-${calls}`;
    const received: DumpEntry[] = [];
    /** One after the other, in the order in which they happened. */
    let last: Promise<void> = Promise.resolve();
    const entry = (kind: string, fields: object): DumpEntry => {
      return { ts: new Date(clock.now()).toISOString(), kind, call, ...fields };
    };
    const write = (...entries: readonly DumpEntry[]): void => {
      last = last.then(() => append(ports, path, entries));
    };
    return {
      asked: (request) => write(entry("asked", { request })),
      sent: (request) => write(entry("sent", request)),
      // Pieces of a text, between which a secret may lie: looked at together with the text that they make.
      received: (response) => void received.push(entry("received", response)),
      answered(events, outcome) {
        const answered = entry("answered", { events: joined(events), outcome });
        last = last.then(async () => {
          const pieces = (await holdsSecret(ports, answered)) ? received.map(withoutBody) : received;
          await append(ports, path, [...pieces, answered]);
        });
      },
    };
  };
}

interface DumpEntry {
  readonly ts: string;
  readonly kind: string;
  readonly call: string;
}

function withoutBody({ ts, kind, call }: DumpEntry): DumpEntry & { readonly withheld: string } {
  return { ts, kind, call, withheld: "the answer contains a secret that is split over several pieces" };
}

/** True also where it cannot be told. */
async function holdsSecret({ outward }: DumpPorts, entry: DumpEntry): Promise<boolean> {
  try {
    return (await outward.load()).value(entry) !== entry;
  } catch {
    return true;
  }
}

/** Neighbours of one kind and block as one. */
function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const whole: ModelEvent[] = [];
  for (const event of events) {
    const before = whole.at(-1);
    const goesOn =
      (event.type === "text" || event.type === "thinking") &&
      before?.type === event.type &&
      before.block === event.block;
    if (goesOn) whole[whole.length - 1] = { ...before, text: before.text + event.text };
    else whole.push(event);
  }
  return whole;
}

/** Never rejects: that a dump cannot be written is no reason for a turn to fail. It is told on the terminal of the program. */
async function append(ports: DumpPorts, path: string, entries: readonly DumpEntry[]): Promise<void> {
  for (const entry of entries) {
    const line = await cleanLine(ports, entry);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    // Taken away in between: nobody wants it any more.
    if (size === undefined || size + line.length > DUMP_MAX_BYTES) return;
    try {
      appendFileSync(path, line, { mode: 0o600 });
    } catch (error) {
      ports.terminal.err(`${path} cannot be written: ${messageOf(error)}\n`);
      return;
    }
  }
}

async function cleanLine({ outward }: DumpPorts, entry: DumpEntry): Promise<string> {
  try {
    return `${JSON.stringify((await outward.load()).value(entry))}\n`;
  } catch {
    const { ts, kind, call } = entry;
    return `${JSON.stringify({ ts, kind, call, withheld: "its secrets could not be removed" })}\n`;
  }
}

function wantedDump(env: ProgramPorts["env"], session: SessionId, nowMs: number): string | undefined {
  try {
    const path = dumpFile(env, session);
    const head: unknown = existsSync(path) ? JSON.parse(firstLine(path)) : undefined;
    return isRecord(head) && typeof head.until === "string" && nowMs < Date.parse(head.until) ? path : undefined;
  } catch {
    return undefined; // no file of ours, or no home where one could be
  }
}

function firstLine(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(HEAD_MAX_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes)).split("\n")[0] ?? "";
  } finally {
    closeSync(file);
  }
}
