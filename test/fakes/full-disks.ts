/**
 * Fills the disk of a real daemon at many moments, frees it again each time, and looks: the daemon is still there, all that was
 * acknowledged is in the log, and within seconds of free space everything works without a restart.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createDiskDaemon, type DiskDaemon, type Folder } from "./disk-daemon.ts";
import type { DiskPoint } from "./disk-point.ts";
import { diskPoints } from "./disk-points.ts";
import { mountExt4Disk } from "./ext4-disk.ts";
import { type MountedDisk, mountSmallDisk } from "./mounted-disk.ts";
import { mountSwitchedDisk } from "./switched-disk.ts";

/** From free space to the first answer. */
export const RECOVERY_LIMIT_MS = 5_000;
const GIVE_UP_MS = 15_000;
const LOOK_EVERY_MS = 50;

export interface Layout {
  readonly name: string;
  readonly folders: readonly Folder[];
  readonly flags?: readonly string[];
  /** Default: 8 MB of memory. */
  readonly mount?: () => MountedDisk;
}

const EVERYTHING: Layout = {
  name: "everything",
  folders: ["data", "state", "config", "cache", "runtime", "tmp", "workspace"],
};
/** Everything most often: what fails together is what users meet. */
const LAYOUTS: readonly Layout[] = [
  EVERYTHING,
  { name: "data", folders: ["data"] },
  EVERYTHING,
  { name: "state", folders: ["state"] },
  EVERYTHING,
  { name: "config", folders: ["config"] },
  { name: "workspace, log beside it", folders: ["workspace"], flags: ["--store", "jsonl"] },
  { name: "cache, temporary and runtime", folders: ["cache", "tmp", "runtime"] },
  { ...EVERYTHING, name: "everything, ext4", mount: mountExt4Disk },
  { ...EVERYTHING, name: "everything, switched", mount: mountSwitchedDisk },
  { name: "data, switched", folders: ["data"], mount: mountSwitchedDisk },
  { name: "log of lines, switched", folders: ["workspace"], flags: ["--store", "jsonl"], mount: mountSwitchedDisk },
  { name: "data, larger", folders: ["data"], mount: () => mountSmallDisk("32m") },
];

/** What a point did and what must still be true of it at the end. */
export interface PointContext {
  readonly daemon: DiskDaemon;
  /** Of this point alone. */
  readonly session: string;
  readonly random: () => number;
  /** Fills the disk up to a part of its last pages, and says that it did. */
  fill(maxLeaveBytes?: number): void;
  /** What the server said yes to: how to find it in the log of a session. */
  acknowledged(what: string, session: string, isThere: Acknowledged["isThere"]): void;
  /** A refusal must be 507 with its reason and what to do; anything else than that or success is a failure. */
  expectRefusal(what: string, answer: { readonly status: number; readonly json: unknown }): void;
  fail(problem: string): void;
}

interface Acknowledged {
  readonly what: string;
  readonly session: string;
  readonly isThere: (log: Awaited<ReturnType<DiskDaemon["log"]>>) => boolean;
}

export interface DiskReport {
  readonly points: number;
  readonly byMoment: Readonly<Record<string, number>>;
  readonly refusals: number;
  readonly acknowledgements: number;
  /** Daemons that ended though nobody told them to. */
  readonly endedDaemons: number;
  readonly lostAcknowledgements: number;
  readonly recoveryMs: readonly number[];
  readonly failures: readonly string[];
}

export async function fillDisks(
  count: number,
  random: () => number,
  moments: readonly DiskPoint[] = diskPoints,
): Promise<DiskReport> {
  const tally = { refusals: 0, endedDaemons: 0, lost: 0, acknowledgements: 0 };
  const byMoment: Record<string, number> = {};
  const recoveryMs: number[] = [];
  const failures: string[] = [];
  for (const [layout, points] of layoutsFor(count, moments)) {
    const daemon = createDiskDaemon(layout.folders, layout.flags, layout.mount);
    const acks: Acknowledged[] = [];
    const sessions: string[] = [];
    try {
      await mustStart(daemon);
      for (const point of points) {
        byMoment[point.name] = (byMoment[point.name] ?? 0) + 1;
        const where = `${point.name} (${layout.name})`;
        const fail = (problem: string): void => void failures.push(`${where}: ${problem}`);
        const session = await daemon.newSession();
        sessions.push(session);
        writeFileSync(join(daemon.workspace, "large.bin"), randomBytes(200 * 1024));
        const context: PointContext = {
          daemon,
          session,
          random,
          fail,
          // Nothing at all half of the time, and anything up to the bound otherwise.
          fill: (maxLeaveBytes = 96 * 1024) =>
            daemon.disk.fill(Math.floor(Math.max(0, random() * 2 - 1) * maxLeaveBytes)),
          acknowledged: (what, of, isThere) =>
            void acks.push({ what: `${where} of ${session}: ${what}`, session: of, isThere }),
          expectRefusal(what, { status, json }) {
            tally.refusals += 1;
            const text = JSON.stringify(json);
            if (status !== 507 || !text.includes('"StoreFailed"')) fail(`${what}: ${status} ${text.slice(0, 300)}`);
            else if (!/(?:Free some space|Mount it writable|Check the disk)/.test(text))
              fail(`${what} does not say what to do: ${text}`);
          },
        };
        try {
          await point.run(context);
        } catch (error) {
          fail(`threw ${error instanceof Error ? error.message : String(error)}`);
        }
        daemon.disk.makeRoom();
        const freeMs = performance.now();
        if (daemon.ended() !== undefined) {
          tally.endedDaemons += 1;
          fail(`the daemon ended: ${daemon.ended()} ${daemon.said().slice(-500)}`);
          await mustStart(daemon);
        }
        const ofPoint = acks.filter(({ what }) => what.startsWith(`${where} of ${session}:`));
        const problem = await whenWorking(daemon, session, ofPoint);
        if (problem === undefined) recoveryMs.push(performance.now() - freeMs);
        else fail(problem);
      }
      for (const { what, session, isThere } of acks) {
        tally.acknowledgements += 1;
        if (isThere(await daemon.log(session))) continue;
        tally.lost += 1;
        failures.push(`${what} was acknowledged and is not in the log`);
      }
      for (const session of sessions) {
        // What a writer could not sign on a full disk, the next one signs.
        await daemon.ask("POST", "/v1/sessions", { resume: session });
        failures.push(...(await settledProblems(daemon, session)));
      }
      await daemon.stop();
      failures.push(...(await verify(daemon, sessions, layout)));
    } catch (error) {
      failures.push(`${layout.name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      daemon.remove();
    }
  }
  return {
    points: recoveryMs.length,
    byMoment,
    refusals: tally.refusals,
    acknowledgements: tally.acknowledgements,
    endedDaemons: tally.endedDaemons,
    lostAcknowledgements: tally.lost,
    recoveryMs,
    failures,
  };
}

/** Every moment in turn, each time on the next layout that it makes sense on; one daemon for all points of a layout. */
function layoutsFor(count: number, moments: readonly DiskPoint[]): Map<Layout, DiskPoint[]> {
  const planned = new Map<Layout, DiskPoint[]>();
  const used = new Map<DiskPoint, number>();
  for (let index = 0; index < count; index++) {
    const point = moments[index % moments.length];
    if (point === undefined) break;
    const fitting = LAYOUTS.filter(
      ({ name, folders }) => (point.layout ?? name) === name && point.needs.every((folder) => folders.includes(folder)),
    );
    const nth = used.get(point) ?? index;
    const layout = fitting[nth % fitting.length] ?? EVERYTHING;
    used.set(point, nth + 1);
    planned.set(layout, [...(planned.get(layout) ?? []), point]);
  }
  return planned;
}

async function mustStart(daemon: DiskDaemon): Promise<void> {
  const problem = await daemon.start();
  if (problem !== undefined) throw new Error(`the daemon does not start: ${problem}`);
}

/** Undefined when a turn is answered, every turn has ended, and all that was acknowledged is in the log, in time. */
async function whenWorking(
  daemon: DiskDaemon,
  session: string,
  acks: readonly Acknowledged[],
): Promise<string | undefined> {
  const startMs = performance.now();
  let last = "";
  while (performance.now() - startMs < GIVE_UP_MS) {
    const { status, json } = await daemon.input(session, "hello");
    last = `${status} ${JSON.stringify(json).slice(0, 300)}`;
    if (status === 200 && json.answer === "still here") {
      const open = problemsOf(session, await daemon.log(session));
      const { state } = (await daemon.ask("GET", "/v1/health")).json.subsystems.store;
      for (const { what, session: of, isThere } of acks)
        if (!isThere(await daemon.log(of))) open.push(`not yet: ${what}`);
      if (open.length === 0 && state === "ok") {
        const tookMs = performance.now() - startMs;
        return tookMs <= RECOVERY_LIMIT_MS ? undefined : `it took ${Math.round(tookMs)} ms to work again`;
      }
      last = [...open, `the store is ${state}`].join("; ");
    }
    await pause(LOOK_EVERY_MS);
  }
  return `it does not work again: ${last}`;
}

/** An input that waited begins when its session is opened again: its turn may end first. */
async function settledProblems(daemon: DiskDaemon, session: string): Promise<string[]> {
  const startMs = performance.now();
  for (;;) {
    const problems = problemsOf(session, await daemon.log(session));
    if (problems.length === 0 || performance.now() - startMs > RECOVERY_LIMIT_MS) return problems;
    await pause(LOOK_EVERY_MS);
  }
}

function problemsOf(session: string, events: Awaited<ReturnType<DiskDaemon["log"]>>): string[] {
  const problems = events.flatMap(({ id }, index) => (id === index + 1 ? [] : [`${session} has a gap before ${id}`]));
  const of = (kind: string, turn: string): number =>
    events.filter((event) => event.kind === kind && event.payload.turn === turn).length;
  const turns = new Set(events.flatMap(({ payload: { turn } }) => (typeof turn === "string" ? [turn] : [])));
  for (const turn of turns) {
    if (of("TurnStarted", turn) !== 1 || of("TurnEnded", turn) !== 1) {
      problems.push(`${turn} began ${of("TurnStarted", turn)} times and ended ${of("TurnEnded", turn)} times`);
    }
    const told = events.filter(({ kind, payload }) => kind === "Error" && payload.turn === turn && payload.terminal);
    if (told.length > 1) problems.push(`the failure of ${turn} is told ${told.length} times`);
  }
  const calls = (kind: string): string[] =>
    events.flatMap((event) => (event.kind === kind ? [event.payload.call_id] : [])).toSorted();
  if (calls("ToolCallStarted").join() !== calls("ToolResult").join()) problems.push(`${session}: a call has no result`);
  if (calls("ToolIntent").join() !== calls("ToolOutcome").join()) problems.push(`${session}: a call has no outcome`);
  return problems;
}

async function verify(daemon: DiskDaemon, sessions: readonly string[], { flags = [] }: Layout): Promise<string[]> {
  const problems: string[] = [];
  for (const session of sessions) {
    const { code, out, err } = await daemon.run("audit", "verify", session, ...flags);
    if (code !== 0) problems.push(`the log of ${session} does not verify: ${out}${err}`.slice(0, 400));
  }
  return problems;
}
