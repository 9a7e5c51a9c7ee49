/** Once a day, when a command ends: content past its time goes, and what goes within a week is named. */
import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Settings } from "#artifacts";
import { makePrivateDirectory } from "#base";
import { expiringSessions, forgetLostLogs, harnessPaths, headsDirectory, machineKey, runRetention } from "#sessions";
import type { CliPorts } from "./cli-ports.ts";
import { policyOf } from "./sessions-care.ts";
import { settledMs } from "./settled-time.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SHOWN_SESSIONS = 3;

/** Never fails the command that it follows: what goes wrong is told, and tried again the next time. */
export async function applyDailyRetention(ports: CliPorts, settings: Pick<Settings, "retention">): Promise<void> {
  const { env, clock, terminal } = ports;
  try {
    const { stateDir, sessionsDb } = harnessPaths(env);
    // Looked at each time, so that it knows how much time has passed.
    const nowMs = settledMs(ports);
    const mark = join(stateDir, "retention");
    const last = await stat(mark).catch(() => undefined);
    // A clock that went back counts as a day: running it twice is harmless.
    if (last !== undefined && Math.abs(clock.now() - last.mtimeMs) < DAY_MS) return;
    const options = {
      path: sessionsDb,
      clock: { now: () => nowMs },
      key: machineKey(env),
      policy: policyOf(settings.retention),
    };
    runRetention(options);
    forgetLostLogs(headsDirectory(env), { own: sessionsDb, nowMs });
    makePrivateDirectory(dirname(mark));
    await writeFile(mark, "", { mode: 0o600 });
    const soon = expiringSessions(options);
    if (soon.length === 0 || !terminal.interactive) return;
    const names = soon.slice(0, SHOWN_SESSIONS).map(({ id }) => id);
    terminal.err(
      `${soon.length} sessions lose content this week: ${names.join(", ")}${soon.length > names.length ? ", …" : ""}. ` +
        "harness sessions pin or export keeps them.\n",
    );
  } catch (error) {
    terminal.err(`Old content could not be let go: ${await ports.outward.describe(error)}\n`);
  }
}
