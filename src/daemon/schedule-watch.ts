/**
 * Begins the runs of schedules at their times. Each tick is claimed on disk before anything of it runs, so that no other daemon and no
 * later start runs it again. What was claimed when an earlier daemon ended is on the record as lost.
 */
import type { Clock } from "#base";
import type { SessionId } from "#protocol";
import {
  changeRun,
  decide,
  isOpen,
  loseOpen,
  nextTick,
  type Schedule,
  type ScheduleStore,
  type TickRecord,
} from "#schedules";

const LOOK_EVERY_MS = 1_000;
/** Runs of all schedules that work at a time. */
export const RUNS_AT_ONCE = 4;

export type RunEnd = Pick<TickRecord, "session" | "message"> & { readonly state: "done" | "failed" | "refused" };

export interface ScheduleWatchOptions {
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly store: ScheduleStore;
  /** Runs the prompt in a session of its own, which is named as soon as it is open. Never rejects. */
  readonly run: (schedule: Schedule, onSession: (session: SessionId) => Promise<void>) => Promise<RunEnd>;
  /** What became of a tick. */
  readonly onRecord: (schedule: Schedule, record: TickRecord) => void;
  /** A schedule that cannot be read, or a change that cannot be stored. It is tried again; told once until something else happens. */
  readonly onFailure: (failure: unknown, schedule?: string) => void;
}

export interface ScheduleWatch {
  /** Whether there are schedules: the daemon has to be there for them. */
  isAwaited(): boolean;
  /** No run begins from now on. */
  stop(): void;
  /** Resolves when what became of the runs is stored. */
  settled(): Promise<void>;
}

export function watchSchedules(options: ScheduleWatchOptions): ScheduleWatch {
  const { clock, store } = options;
  const stopped = new AbortController();
  const watchedSinceMs = clock.now();
  const running = new Set<Promise<void>>();
  /** When the next tick of each schedule is, as it was stored. */
  const next = new Map<string, { readonly of: string; readonly tickMs: number }>();
  const told = new Map<string, string>();
  let count = 0;

  function tellOnce(key: string, failure: unknown): void {
    const text = String(failure);
    if (told.get(key) === text) return;
    told.set(key, text);
    options.onFailure(failure, key === "" ? undefined : key);
  }

  /** Looking is cheap, deciding is not: it asks a cron expression. */
  function mayBeDue(schedule: Schedule): boolean {
    const { name, createdMs, decidedMs, records } = schedule;
    if (records.some(({ state }) => state === "requested")) return true;
    const of = `${createdMs} ${decidedMs}`;
    let known = next.get(name);
    if (known?.of !== of) {
      known = { of, tickMs: nextTick(schedule, decidedMs) ?? Number.POSITIVE_INFINITY };
      next.set(name, known);
    }
    return clock.now() >= known.tickMs;
  }

  async function begin(schedule: Schedule): Promise<void> {
    let claim: TickRecord | undefined;
    let missed: readonly TickRecord[] = [];
    const stored = await store.change(schedule, (now) => {
      const decision = decide(now, { nowMs: clock.now(), watchedSinceMs, hasRoom: running.size < RUNS_AT_ONCE });
      claim = decision.run;
      missed = decision.missed;
      return decision.schedule;
    });
    if (stored === undefined) return;
    for (const record of missed) options.onRecord(stored, record);
    if (claim === undefined) return;
    const work: Promise<void> = carryOut(stored, claim)
      .catch((failure: unknown) => tellOnce(stored.name, failure))
      .finally(() => running.delete(work));
    running.add(work);
  }

  async function carryOut(schedule: Schedule, claim: TickRecord): Promise<void> {
    options.onRecord(schedule, claim);
    const end = await options.run(schedule, async (session) => {
      await store.change(schedule, (now) => changeRun(now, claim, { state: "running", session }));
    });
    const over = { ...end, endedMs: clock.now() };
    await storeEnd(schedule, claim, over);
    options.onRecord(schedule, { ...claim, ...over });
  }

  /**
   * Until it is stored, since later ticks would find a run that never ends. Rejects when it could not be stored and this daemon ends:
   * the next one reports the tick as lost.
   */
  async function storeEnd(schedule: Schedule, claim: TickRecord, over: Partial<TickRecord>): Promise<void> {
    for (let isTold = false; ; isTold = true) {
      try {
        // A schedule that was removed meanwhile has no record any more; the log has the run.
        await store.change(schedule, (now) => changeRun(now, claim, over));
        return;
      } catch (failure) {
        if (stopped.signal.aborted) throw failure;
        if (!isTold) options.onFailure(failure, schedule.name);
        await clock.sleep(LOOK_EVERY_MS, stopped.signal);
      }
    }
  }

  async function look(): Promise<void> {
    const { schedules, unreadable } = store.list();
    count = schedules.length;
    for (const name of unreadable) tellOnce(name, new Error("its file cannot be read"));
    for (const schedule of schedules) {
      if (stopped.signal.aborted) return;
      try {
        if (mayBeDue(schedule)) await begin(schedule);
        if (!unreadable.includes(schedule.name)) told.delete(schedule.name);
      } catch (failure) {
        tellOnce(schedule.name, failure);
      }
    }
  }

  /** Before the first tick is decided: an open claim of this daemon must not be taken for one of an earlier daemon. */
  async function loseEarlier(): Promise<void> {
    for (const schedule of store.list().schedules) {
      if (!schedule.records.some(isOpen)) continue;
      let lost: readonly TickRecord[] = [];
      const stored = await store.change(schedule, (now) => {
        const result = loseOpen(now, clock.now());
        lost = result.lost;
        return result.schedule;
      });
      for (const record of lost) options.onRecord(stored ?? schedule, record);
    }
  }

  async function watch(): Promise<void> {
    for (let hasBegun = false; !stopped.signal.aborted; ) {
      try {
        if (!hasBegun) await loseEarlier();
        hasBegun = true;
        await look();
        told.delete("");
      } catch (failure) {
        tellOnce("", failure);
      }
      await clock.sleep(LOOK_EVERY_MS, stopped.signal);
    }
  }

  const watching = watch();
  return {
    isAwaited: () => count > 0,
    stop: () => stopped.abort(),
    async settled() {
      await watching;
      await Promise.all(running);
    },
  };
}
