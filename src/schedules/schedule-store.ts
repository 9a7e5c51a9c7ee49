/** Schedules on disk: one sealed private file for each, changed by one process at a time and durable when a change returns. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, ifThere, isRecord, jsonIn, openBox, sealBox } from "#base";
import { ReasonError } from "#protocol";
import {
  createPrivateFile,
  makePrivateDirectory,
  readOwnedFile,
  readPrivateFile,
  removePrivateFile,
  withFileLock,
  writePrivateFile,
} from "#world";
import type { Schedule } from "./schedule.ts";

export const MAX_SCHEDULES = 100;
const MAX_FILE_BYTES = 1024 * 1024;
const ENDING = ".schedule";
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export interface ListedSchedules {
  /** By name. */
  readonly schedules: readonly Schedule[];
  /** Names of files that cannot be read: they do not run. */
  readonly unreadable: readonly string[];
}

export interface ScheduleStore {
  list(): ListedSchedules;
  /** Throws UsageInvalid for a name without a schedule. */
  get(name: string): Schedule;
  /** Rejects with UsageInvalid for a bad name or too many schedules, and with AlreadyExists. */
  add(schedule: Schedule): Promise<void>;
  /** Rejects with UsageInvalid when there is none. */
  remove(name: string): Promise<void>;
  /**
   * Stores what `next` makes of the schedule as it is on disk now. Resolves to that, or to undefined when it was removed meanwhile.
   * `next` may return the same object, and nothing is written then.
   */
  change(
    of: Pick<Schedule, "name" | "createdMs">,
    next: (schedule: Schedule) => Schedule,
  ): Promise<Schedule | undefined>;
}

export interface ScheduleStoreOptions {
  readonly directory: string;
  readonly key: () => Uint8Array;
  readonly clock: Clock;
}

export function createScheduleStore({ directory, key, clock }: ScheduleStoreOptions): ScheduleStore {
  const pathOf = (name: string): string => join(directory, `${name}${ENDING}`);

  function read(name: string): Schedule | undefined {
    const box = readOwnedFile(pathOf(name), MAX_FILE_BYTES);
    return box === undefined ? undefined : opened(key(), box, name);
  }

  function seal(schedule: Schedule): Buffer {
    const box = sealBox(key(), JSON.stringify(schedule), schedule.name);
    if (box.length > MAX_FILE_BYTES)
      throw usage(`the schedule '${schedule.name}' has more than ${MAX_FILE_BYTES} bytes`);
    return box;
  }

  async function locked<Result>(work: () => Result): Promise<Result> {
    const done = await withFileLock(join(directory, "schedules"), clock, work);
    if (done === undefined) {
      throw new ReasonError("StoreFailed", `another process keeps the lock in ${directory}. Try again`);
    }
    return done.result;
  }

  function get(name: string): Schedule {
    const schedule = NAME.test(name) ? read(name) : undefined;
    if (schedule === undefined)
      throw usage(`there is no schedule '${name.slice(0, 100)}'; harness schedule list has them`);
    return schedule;
  }

  return {
    get,
    list() {
      const schedules: Schedule[] = [];
      const unreadable: string[] = [];
      for (const name of namesIn(directory)) {
        try {
          const schedule = read(name);
          if (schedule !== undefined) schedules.push(schedule);
        } catch {
          unreadable.push(name); // the list names it, and the daemon logs it: the others run
        }
      }
      return { schedules, unreadable };
    },
    async add(schedule) {
      const { name } = schedule;
      if (!NAME.test(name)) {
        throw usage(
          `'${name.slice(0, 100)}' is not a name for a schedule: use at most 64 lower-case letters, digits, - and _`,
        );
      }
      makePrivateDirectory(directory);
      await locked(() => {
        if (namesIn(directory).length >= MAX_SCHEDULES) {
          throw usage(`there are ${MAX_SCHEDULES} schedules already. Remove one with harness schedule remove NAME`);
        }
        if (createPrivateFile(pathOf(name), seal(schedule))) return;
        const detail = `there is already a schedule '${name}'. Choose another name, or remove it with harness schedule remove ${name}`;
        throw new ReasonError("AlreadyExists", detail);
      });
    },
    async remove(name) {
      // One that cannot be read can be removed as well.
      if (!namesIn(directory).includes(name)) get(name);
      await locked(() => removePrivateFile(pathOf(name)));
    },
    async change({ name, createdMs }, next) {
      return locked(() => {
        const now = read(name);
        if (now === undefined || now.createdMs !== createdMs) return undefined;
        const changed = next(now);
        if (changed !== now) writePrivateFile(pathOf(name), seal(changed), { durable: true });
        return changed;
      });
    },
  };
}

/** Seals every schedule with another key. What the old key does not open is left as it is; the count of those. */
export function rekeySchedules(options: {
  readonly directory: string;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}): number {
  const { directory, from, to } = options;
  let unreadable = 0;
  for (const name of namesIn(directory)) {
    const path = join(directory, `${name}${ENDING}`);
    const text = openBox(from, readPrivateFile(path) ?? new Uint8Array(), name);
    if (text === undefined) unreadable += 1;
    else writePrivateFile(path, sealBox(to, text, name), { durable: true });
  }
  return unreadable;
}

function namesIn(directory: string): string[] {
  const files = ifThere(() => readdirSync(directory)) ?? [];
  const names = files.filter((file) => file.endsWith(ENDING)).map((file) => file.slice(0, -ENDING.length));
  return names.filter((name) => NAME.test(name)).toSorted();
}

function opened(key: Uint8Array, box: Uint8Array, name: string): Schedule {
  const value = jsonIn(openBox(key, box, name)?.toString("utf8") ?? "");
  if (!isRecord(value) || value.name !== name || !Array.isArray(value.records)) {
    throw new ReasonError("StoreFailed", `the schedule '${name}' was altered, or sealed with another key`);
  }
  // Nobody without the key can have written it, and whoever has it wrote a Schedule.
  return value as unknown as Schedule;
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
