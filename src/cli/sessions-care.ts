/** `harness sessions doctor`, `rekey` and `expire`: looking after the encrypted log. */

import type { RetentionSettings } from "#artifacts";
import { counted, paint } from "#base";
import { headsOf, retentionPolicy, rotateKeys, settledMs } from "#program";
import { ReasonError } from "#protocol";
import { diagnoseStore, expiringSessions, harnessPaths, machineKey, runRetention } from "#stores";
import { USER_LOG } from "#stores/kinds";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

const HOUR_MS = 60 * 60 * 1000;

export interface CareFlags {
  readonly json?: boolean;
}

/** Exit code 1 when something is wrong; warnings alone are 0. */
export async function doctorCommand(ports: CliPorts, flags: CareFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  const path = harnessPaths(env).sessionsDb;
  const heads = await headsOf(ports, { store: USER_LOG });
  const findings = diagnoseStore({ path, clock, key: machineKey(env), heads });
  const isBroken = findings.some(({ level }) => level === "error");
  if (flags.json) {
    terminal.out(`${JSON.stringify({ path, findings })}\n`);
    return isBroken ? 1 : 0;
  }
  if (findings.length === 0) terminal.out(`${path}: nothing is wrong.\n`);
  for (const { level, what, remedy } of findings) {
    terminal.out(`${paint(terminal, level === "error" ? "red" : "yellow", level)}: ${what}\n  ${remedy}\n`);
  }
  return isBroken ? 1 : 0;
}

/** A new key file, and the log under it. Keys from the environment are changed where they come from. */
export async function rekeyCommand({ terminal, env, clock }: CliPorts): Promise<ExitCode> {
  for (const variable of ["HARNESS_MACHINE_KEY", "HARNESS_PASSPHRASE"]) {
    if (env[variable] !== undefined) {
      const detail = `the key comes from ${variable}; rekey only changes a key file. To use a key file, unset the variable.`;
      throw new ReasonError("UsageInvalid", detail);
    }
  }
  const { sessionsDb, configDir } = harnessPaths(env);
  const left = await rotateKeys({ env, clock });
  if (left.heads > 0) {
    terminal.err(`${left.heads} last known heads do not match the old key and were left unchanged.\n`);
  }
  if (left.credentials) terminal.err("Neither key opens the stored provider keys, so they were left unchanged.\n");
  if (left.projects > 0)
    terminal.err(`Neither key opens the acks of ${left.projects} projects, so they no longer count.\n`);
  terminal.out(
    `${sessionsDb}, the undo data and the provider keys are now encrypted with a new key, in ${configDir}.\n`,
  );
  if (left.schedules > 0) {
    terminal.err(`Neither key opens ${left.schedules} schedules, so they were left unchanged and do not run.\n`);
  }
  if (left.undo > 0) {
    terminal.err(`Neither key opens the undo data of ${left.undo} folders, so it was left unchanged.\n`);
  }
  return 0;
}

/** Lets go of content that is older than its time to live, and tells what goes next. */
export async function expireCommand(
  ports: CliPorts,
  flags: CareFlags & { readonly dryRun?: boolean; readonly settings: RetentionSettings },
): Promise<ExitCode> {
  const { terminal, env } = ports;
  const nowMs = settledMs(ports);
  tellLeap(ports, nowMs);
  const clock = { now: () => nowMs };
  const options = {
    path: harnessPaths(env).sessionsDb,
    clock,
    key: machineKey(env),
    policy: await retentionPolicy(ports, flags.settings),
  };
  const soon = expiringSessions(options);
  const report = flags.dryRun ? undefined : runRetention(options);
  if (flags.json) {
    terminal.out(`${JSON.stringify({ report: report ?? null, expiring: soon })}\n`);
    return 0;
  }
  if (report !== undefined) terminal.out(`${counted(report.expiredEvents, "event")} lost content.\n`);
  const rows = soon.map(({ id, expiresAt, title }) => [id, expiresAt, title]);
  if (rows.length > 0) terminal.out(formatTable(["SESSION", "LOSES CONTENT FROM", "TITLE"], rows, terminal.columns));
  return 0;
}

function tellLeap({ terminal, clock }: CliPorts, settledAtMs: number): void {
  if (clock.now() - settledAtMs < HOUR_MS) return;
  const [now, settled] = [clock.now(), settledAtMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
  terminal.err(
    `The clock has jumped to ${now}; by the time that has really passed it is ${settled}. Until the clock has been right for 12 hours, ` +
      "Harness uses the earlier time to decide what has expired.\n",
  );
}
