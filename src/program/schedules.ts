/** The schedules of this user: where they are, the key that seals them, and what a person does with them. Loaded where they are needed. */
import { isAbsolute, join } from "node:path";
import { defined } from "#base";
import type { NewSchedule, ScheduleDesk } from "#control";
import { ReasonError } from "#protocol";
import {
  brokenRow,
  createScheduleStore,
  cronTimes,
  intervalTimes,
  isOpen,
  rekeySchedules,
  type Schedule,
  type ScheduleRow,
  type ScheduleStore,
  scheduleRow,
  type TickRecord,
} from "#schedules";
import { deriveKey, harnessPaths, type MachineKey, machineKeySource } from "#stores";
import type { ProgramPorts } from "./ports.ts";

export { isOpen, type ScheduleRow, type TickRecord } from "#schedules";

type SchedulePorts = Pick<ProgramPorts, "env" | "clock">;

/** What a person asks for in a session. `clean` removes secrets from a prompt; `startDaemon` sees to it that a daemon runs. */
export function scheduleDesk(
  ports: SchedulePorts,
  clean: (text: string) => Promise<string>,
  startDaemon: () => Promise<void>,
): ScheduleDesk {
  return {
    list: async () => scheduleRows(ports),
    async add(fields, folder) {
      const row = await addSchedule(ports, { ...fields, prompt: await clean(fields.prompt) }, folder);
      // It is kept, whether or not the daemon can be started: the error says what is missing then.
      await startDaemon();
      return row;
    },
    remove: (name) => scheduleStore(ports).remove(name),
    async run(name) {
      await startDaemon();
      const { schedule } = await requestRun(ports, name);
      return scheduleRow(schedule, ports.clock.now());
    },
  };
}

/** `prompt` has no secrets left. Rejects with UsageInvalid, or AlreadyExists. */
export async function addSchedule(ports: SchedulePorts, fields: NewSchedule, folder: string): Promise<ScheduleRow> {
  const { name, prompt, model, profile, plan, max_cost_usd: maxCostUsd, max_steps: maxSteps } = fields;
  const times = timesOf(fields);
  if (model !== undefined) checkModel(model);
  if (prompt.trim() === "") throw new ReasonError("UsageInvalid", "the prompt is empty: say what the agent should do");
  const createdMs = ports.clock.now();
  const schedule: Schedule = {
    ...{ name, times, folder, prompt, createdMs, decidedMs: createdMs },
    ...defined({ model, profile, maxCostUsd, maxSteps }),
    ...(plan === true ? { plan } : {}),
    records: [],
    totals: { claimed: 0, missed: 0, lost: 0 },
  };
  await scheduleStore(ports).add(schedule);
  return scheduleRow(schedule, createdMs);
}

/** Which other models there are is known where it runs. */
function checkModel(model: string): void {
  const scenario = /^scripted:(.+\.ya?ml)$/.exec(model)?.[1];
  if (scenario === undefined || isAbsolute(scenario)) return;
  throw new ReasonError(
    "UsageInvalid",
    `the scenario ${scenario} needs an absolute path: the daemon runs in another folder`,
  );
}

export interface RequestedRun {
  readonly schedule: Schedule;
  readonly asked: TickRecord;
}

/** The daemon runs it as it runs a tick, so that claim, limits and record are the same. Rejects with NotAllowed while it runs. */
export async function requestRun(ports: SchedulePorts, name: string): Promise<RequestedRun> {
  const store = scheduleStore(ports);
  const asked: TickRecord = { tickMs: ports.clock.now(), state: "requested", isManual: true };
  const schedule = await store.change(store.get(name), (now) => requested(now, asked));
  // Removed meanwhile: the message for that.
  return { schedule: schedule ?? store.get(name), asked };
}

function requested(schedule: Schedule, asked: TickRecord): Schedule {
  if (schedule.records.some(({ state }) => state === "requested")) {
    throw notRun(schedule.name, "somebody else has asked for a run that has not begun");
  }
  if (schedule.records.some(isOpen)) throw notRun(schedule.name, "it is running now");
  return { ...schedule, records: [...schedule.records, asked] };
}

export function notRun(name: string, why: string): ReasonError {
  return new ReasonError("NotAllowed", `The schedule '${name}' was not run: ${why}.`);
}

function timesOf({ cron, every, timezone }: NewSchedule): Schedule["times"] {
  if (cron !== undefined && every !== undefined)
    throw new ReasonError("UsageInvalid", "a schedule has a cron expression or an interval, not both");
  if (every !== undefined) {
    if (timezone !== undefined)
      throw new ReasonError("UsageInvalid", "a time zone is for cron expressions; an interval has none");
    return intervalTimes(every);
  }
  if (cron === undefined) throw new ReasonError("UsageInvalid", "say when it runs: with cron or with every");
  return cronTimes(cron, timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
}

export function scheduleStore({ env, clock }: SchedulePorts): ScheduleStore {
  const machine = machineKeySource(env);
  return createScheduleStore({ directory: scheduleDirectory(env), key: () => scheduleKey(machine()), clock });
}

/** Also those that cannot be read: a list without them would say that they are gone. */
export function scheduleRows(ports: SchedulePorts): readonly ScheduleRow[] {
  const { schedules, unreadable } = scheduleStore(ports).list();
  const nowMs = ports.clock.now();
  return [...schedules.map((schedule) => scheduleRow(schedule, nowMs)), ...unreadable.map(brokenRow)];
}

/** How many neither key opens. */
export function rekeyed(env: ProgramPorts["env"], from: MachineKey, to: MachineKey): number {
  return rekeySchedules({ directory: scheduleDirectory(env), from: scheduleKey(from), to: scheduleKey(to) });
}

function scheduleDirectory(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).dataDir, "schedules");
}

function scheduleKey(key: MachineKey): Uint8Array {
  return deriveKey(key, "schedules");
}
