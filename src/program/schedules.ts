/** The schedules of this user: where they are, and the key that seals them. Loaded where they are needed. */
import { join } from "node:path";
import {
  brokenRow,
  createScheduleStore,
  rekeySchedules,
  type ScheduleRow,
  type ScheduleStore,
  scheduleRow,
} from "#schedules";
import { deriveKey, harnessPaths, type MachineKey, machineKeySource } from "#stores";
import type { ProgramPorts } from "./ports.ts";

export { cronTimes, intervalTimes, isOpen, type Schedule, type ScheduleRow, type TickRecord } from "#schedules";

export function scheduleStore({ env, clock }: Pick<ProgramPorts, "env" | "clock">): ScheduleStore {
  const machine = machineKeySource(env);
  return createScheduleStore({ directory: scheduleDirectory(env), key: () => scheduleKey(machine()), clock });
}

/** Also those that cannot be read: a list without them would say that they are gone. */
export function scheduleRows(ports: Pick<ProgramPorts, "env" | "clock">): readonly ScheduleRow[] {
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
