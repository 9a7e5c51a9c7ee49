/**
 * Names the sessions that lose content within a week, once a day and on a terminal only. Whoever did the work of retention meanwhile
 * does not matter: a daemon does it, and a person reads this.
 */
import { existsSync } from "node:fs";
import type { RetentionSettings } from "#artifacts";
import { counted } from "#base";
import { harnessPaths } from "#stores/keys";
import { dailyMark } from "./daily-mark.ts";
import type { ProgramPorts } from "./ports.ts";

const MARK = "expiry-banner";
const SHOWN_SESSIONS = 3;

/** `settings` is asked only when it is time. Never fails the command that it belongs to. */
export async function tellExpiring(ports: ProgramPorts, settings: () => Promise<RetentionSettings>): Promise<void> {
  const { env, clock, terminal } = ports;
  if (!terminal.interactive) return;
  try {
    const mark = dailyMark(ports, MARK);
    const { sessionsDb } = harnessPaths(env);
    if (!(await mark.isDue()) || !existsSync(sessionsDb)) return;
    const [{ expiringSessions, machineKey }, { retentionPolicy }] = await Promise.all([
      import("#stores"),
      import("./retention-policy.ts"),
    ]);
    const policy = await retentionPolicy(ports, await settings());
    const soon = expiringSessions({ path: sessionsDb, clock, key: machineKey(env), policy });
    await mark.set();
    if (soon.length > 0) terminal.err(`${expiringText(soon.map(({ id }) => id))}\n`);
  } catch (error) {
    terminal.err(`Harness could not check which sessions lose content soon: ${await ports.outward.describe(error)}\n`);
  }
}

/** One line for a person. */
export function expiringText(ids: readonly string[]): string {
  const named = ids.slice(0, SHOWN_SESSIONS).join(", ");
  const more = ids.length > SHOWN_SESSIONS ? ", …" : "";
  const [loses, them] = ids.length === 1 ? ["loses", "it"] : ["lose", "them"];
  return `${counted(ids.length, "session")} ${loses} content this week: ${named}${more}. To keep ${them}, run harness sessions pin or harness sessions export.`;
}
