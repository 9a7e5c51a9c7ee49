/**
 * What a daemon does by itself while it serves: lets old content go, runs the inputs that waited for it and the prompts of schedules,
 * and notices that its program was replaced. Each failure is a line of the log, and none ends the daemon.
 */
import type { Settings } from "#artifacts";
import type { ComponentLog, OperationLog } from "#logs";
import {
  expiringText,
  type Harness,
  type ProgramPorts,
  type RetentionPortion,
  type RunFlags,
  retentionPortion,
} from "#program";
import { scheduleStore } from "#program/schedules";
import { ReasonError } from "#protocol";
import { holdProgramFiles, type ProgramFiles } from "./program-files.ts";
import { PORTION_BOUND, type RetentionWatch, watchRetention } from "./retention.ts";
import { runScheduled } from "./schedule-run.ts";
import { type ScheduleWatch, watchSchedules } from "./schedule-watch.ts";
import { openWaitingSessions } from "./waiting.ts";

/** Sessions that a line of the log names. */
const LOGGED_SESSIONS = 20;

export interface DutyOptions {
  readonly ports: ProgramPorts;
  readonly harness: Pick<Harness, "control" | "store">;
  readonly settings: Pick<Settings, "retention">;
  readonly log: OperationLog;
  readonly store: RunFlags["store"];
  /** The program on disk is another one. */
  readonly onReplaced: () => void;
}

export interface Duties {
  /** Undefined where the log is not the encrypted one, whose content alone expires. */
  retention(): ReturnType<RetentionWatch["state"]> | undefined;
  /** When the daemon listens. `isDaemon`: it is the daemon of the user, and no server beside it. */
  begin(options: { readonly isDaemon: boolean }): void;
  /** There are schedules, which this daemon runs. */
  isAwaited(): boolean;
  stop(): void;
  /** When no turn runs any more: resolves when what became of them is stored. */
  settled(): Promise<void>;
}

/** The files of the program are held from now on, the rest begins with `begin`. */
export function createDuties({ ports, harness, settings, log, store, onReplaced }: DutyOptions): Duties {
  const { clock, terminal } = ports;
  const daemon = log.of("daemon");
  const stopped = new AbortController();
  let retention: RetentionWatch | undefined;
  let files: ProgramFiles | undefined;
  let schedules: ScheduleWatch | undefined;

  const tellFailure =
    (what: string) =>
    (failure: unknown): void =>
      void ports.outward.describe(failure).then((problem) => daemon.error(what, { problem }));

  function tellPortion(portion: Exclude<RetentionPortion, { kind: "not-due" }>): void {
    if (portion.expiredEvents > 0) daemon.info("old content went", { events: portion.expiredEvents });
    if (portion.kind !== "done" || portion.expiring.length === 0) return;
    const ids = portion.expiring.map(({ id }) => id);
    daemon.warn("sessions lose content soon", { count: ids.length, sessions: ids.slice(0, LOGGED_SESSIONS) });
    if (terminal.interactive) terminal.err(`${expiringText(ids)}\n`);
  }

  function tellSkipped(session: string, why: unknown): void {
    if (why instanceof ReasonError && why.reason === "SessionBusy") {
      daemon.info("queued inputs are left to the process that has their session open", { session });
      return;
    }
    void ports.outward
      .describe(why)
      .then((problem) => daemon.warn("a session with queued inputs cannot be opened", { session, problem }));
  }

  holdProgramFiles({ entry: ports.programFile, clock, onReplaced }).then((held) => {
    files = held;
    if (stopped.signal.aborted) held.stop();
  }, tellFailure("the files of the program cannot be kept open"));

  return {
    retention: () => retention?.state() ?? (store === "sqlite" ? { state: "not run" } : undefined),
    begin({ isDaemon }) {
      if (store === "sqlite") {
        retention = watchRetention({
          clock,
          portion: () => retentionPortion(ports, settings, PORTION_BOUND),
          onPortion: tellPortion,
          onFailure: tellFailure("expired content could not be deleted"),
        });
      }
      if (!isDaemon) return;
      schedules = beginSchedules({ ports, harness, daemon });
      openWaitingSessions({
        ...{ clock, control: harness.control, store: harness.store, signal: stopped.signal },
        onOpened: (session, inputs) => daemon.info("opened for queued inputs", { session, inputs }),
        onSkipped: tellSkipped,
      }).catch(tellFailure("queued inputs could not be looked up"));
    },
    stop() {
      stopped.abort();
      retention?.stop();
      files?.stop();
      schedules?.stop();
    },
    isAwaited: () => schedules?.isAwaited() ?? false,
    settled: async () => schedules?.settled(),
  };
}

/** Each tick that ran, was missed or got lost is a line of the log. */
function beginSchedules({
  ports,
  harness,
  daemon,
}: Pick<DutyOptions, "ports" | "harness"> & { readonly daemon: ComponentLog }): ScheduleWatch {
  return watchSchedules({
    clock: ports.clock,
    store: scheduleStore(ports),
    run: (schedule, onSession) => runScheduled(harness.control, schedule, onSession),
    onRecord({ name }, { tickMs, lastMs, state, session, message, cause, count }) {
      const fields = { schedule: name, tick: timeText(tickMs), state, session, message, cause, count };
      const line = { ...fields, ...(lastMs === undefined ? {} : { last: timeText(lastMs) }) };
      if (state === "claimed" || state === "done") daemon.info("schedule", line);
      else daemon.warn("schedule", line);
    },
    onFailure: (failure, schedule) =>
      void ports.outward
        .describe(failure)
        .then((problem) => daemon.error("a schedule cannot be run", { schedule, problem })),
  });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
