/** Once a day content past its time goes from the log: when a command ends, and on a timer in a daemon, which may not end for weeks. */
import { existsSync } from "node:fs";
import type { Settings } from "#artifacts";
import {
  type ExpiringSession,
  expiringSessions,
  forgetLostLogs,
  harnessPaths,
  headsDirectory,
  machineKey,
  runRetention,
} from "#stores";
import { dailyMark } from "./daily-mark.ts";
import { tellExpiring } from "./expiry-banner.ts";
import type { ProgramPorts } from "./ports.ts";
import { retentionPolicy } from "./retention-policy.ts";
import { settledMs } from "./settled-time.ts";

const MARK = "retention";

export type RetentionPortion =
  /** It was done within the last day, or there is no log. */
  | { readonly kind: "not-due" }
  /** The bound was reached; the next portion is due at once. */
  | { readonly kind: "unfinished"; readonly expiredEvents: number }
  | {
      readonly kind: "done";
      readonly expiredEvents: number;
      /** Those that lose content within the time of the banner, the next one first. */
      readonly expiring: readonly ExpiringSession[];
    };

export interface PortionBound {
  readonly maxBatches?: number;
  readonly batchEvents?: number;
}

/** As much as the bound allows, and nothing of a session that is open. Throws what went wrong. */
export async function retentionPortion(
  ports: Pick<ProgramPorts, "env" | "clock">,
  settings: Pick<Settings, "retention">,
  bound: PortionBound = {},
): Promise<RetentionPortion> {
  const { env } = ports;
  const mark = dailyMark(ports, MARK);
  const { sessionsDb } = harnessPaths(env);
  // Looked at each time, so that it knows how much time has passed.
  const nowMs = settledMs(ports);
  if (!(await mark.isDue()) || !existsSync(sessionsDb)) return { kind: "not-due" };
  const clock = { now: () => nowMs };
  const options = {
    path: sessionsDb,
    clock,
    key: machineKey(env),
    policy: await retentionPolicy(ports, settings.retention),
  };
  const { expiredEvents, isComplete } = runRetention({ ...options, ...bound });
  if (!isComplete) return { kind: "unfinished", expiredEvents };
  forgetLostLogs(headsDirectory(env), { own: sessionsDb, nowMs });
  await mark.set();
  return { kind: "done", expiredEvents, expiring: expiringSessions(options) };
}

/** When a command ends. Never fails it: what goes wrong is told, and tried again the next time. */
export async function applyDailyRetention(ports: ProgramPorts, settings: Pick<Settings, "retention">): Promise<void> {
  try {
    await retentionPortion(ports, settings);
  } catch (error) {
    ports.terminal.err(`Expired content could not be deleted: ${await ports.outward.describe(error)}\n`);
    return;
  }
  await tellExpiring(ports, async () => settings.retention);
}
