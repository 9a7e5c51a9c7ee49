/** `harness schedule`: prompts at set times. Its commands change files; the daemon reads them and runs what is due. */

import { defined } from "#base";
import { ensureDaemon, lookForDaemon } from "#daemon";
import { tokenParts } from "#program";
import {
  addSchedule,
  isOpen,
  notRun,
  requestRun,
  type ScheduleRow,
  scheduleRows,
  scheduleStore,
  type TickRecord,
} from "#program/schedules";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { namedFolder } from "./named-folder.ts";
import { readPromptFromInput } from "./run.ts";
import { formatTable } from "./table.ts";

const TOKEN_VARIABLE = "HARNESS_TOKEN";
const PROMPT_MAX_CHARS = 100_000;
const LOOK_EVERY_MS = 200;

interface JsonFlag {
  readonly json?: boolean;
}

export interface ScheduleAddFlags extends JsonFlag {
  readonly cron?: string;
  readonly every?: string;
  readonly timezone?: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly profile?: string;
  readonly plan?: true;
  readonly maxCostUsd?: number;
  readonly maxSteps?: number;
}

export async function scheduleAddCommand(
  ports: CliPorts,
  name: string,
  prompt: string | undefined,
  flags: ScheduleAddFlags,
): Promise<ExitCode> {
  requirePerson(ports, "add schedules");
  const { terminal, outward } = ports;
  const { cron, every, timezone, model, profile, plan, maxCostUsd, maxSteps } = flags;
  const given = prompt === undefined || prompt === "-" ? await readPromptFromInput(terminal) : prompt;
  if (given.length > PROMPT_MAX_CHARS)
    throw new ReasonError("UsageInvalid", `the prompt has more than ${PROMPT_MAX_CHARS} characters`);
  const fields = {
    ...{ name, prompt: (await outward.load()).text(given) },
    ...defined({ cron, every, timezone, model, profile, plan, max_cost_usd: maxCostUsd, max_steps: maxSteps }),
  };
  const row = await addSchedule(ports, fields, namedFolder(ports.cwd, flags.cwd));
  // It is kept, whether or not the daemon can be started: the error says what is missing then.
  await ensureDaemon(ports);
  if (flags.json) terminal.out(`${JSON.stringify(row)}\n`);
  else terminal.out(`added ${name}: ${row.times}, next at ${row.next_at ?? "no time"}\n`);
  return 0;
}

export async function scheduleListCommand(
  ports: CliPorts,
  name: string | undefined,
  { json }: JsonFlag,
): Promise<ExitCode> {
  const { terminal } = ports;
  const all = scheduleRows(ports);
  const rows = name === undefined ? all : all.filter((row) => row.name === name);
  if (name !== undefined && rows.length === 0) scheduleStore(ports).get(name);
  if (json) {
    terminal.out(`${JSON.stringify(rows)}\n`);
    return 0;
  }
  if (rows.length === 0) {
    terminal.err("There are no schedules. To add one: harness schedule add --help\n");
    return 0;
  }
  if (name === undefined) terminal.out(overview(rows, terminal.columns));
  else terminal.out(history(rows[0] as ScheduleRow, terminal.columns));
  for (const { name: which, problem, waits_until } of rows) {
    if (problem !== undefined) terminal.err(`${which}: ${problem}\n`);
    if (waits_until === undefined) continue;
    terminal.err(
      `${which}: the clock was set back. Its ticks up to ${waits_until} have been decided already and do not come again.\n`,
    );
  }
  if ((await lookForDaemon(ports)).kind !== "running") {
    terminal.err("No daemon runs, so ticks are missed. To start it: harness daemon start\n");
  }
  return 0;
}

export async function scheduleRemoveCommand(ports: CliPorts, name: string, { json }: JsonFlag): Promise<ExitCode> {
  requirePerson(ports, "remove schedules");
  await scheduleStore(ports).remove(name);
  ports.terminal.out(json ? `${JSON.stringify({ removed: name })}\n` : `removed ${name}\n`);
  return 0;
}

export async function scheduleRunCommand(ports: CliPorts, name: string, { json }: JsonFlag): Promise<ExitCode> {
  requirePerson(ports, "run schedules");
  const { terminal, clock } = ports;
  const store = scheduleStore(ports);
  store.get(name);
  await ensureDaemon(ports);
  const { schedule, asked } = await requestRun(ports, name);
  for (
    let now: typeof schedule | undefined = schedule;
    now !== undefined;
    now = await store.change(now, (same) => same)
  ) {
    const record = now.records.find(({ tickMs, isManual }) => tickMs === asked.tickMs && isManual === true);
    if (record === undefined || (record.state !== "requested" && !isOpen(record)))
      return tellRun(ports, name, record, json);
    if ((await lookForDaemon(ports)).kind === "none") throw notRun(name, "the daemon ended");
    await clock.sleep(LOOK_EVERY_MS);
  }
  terminal.err(`${name} was removed meanwhile\n`);
  return 1;
}

function tellRun({ terminal }: CliPorts, name: string, record: TickRecord | undefined, json = false): ExitCode {
  const { state = "lost", session, message, cause } = record ?? {};
  const why = message ?? cause;
  if (json) terminal.out(`${JSON.stringify({ name, state, ...defined({ session, message: why }) })}\n`);
  else
    terminal.out(
      `${name}: ${state}${session === undefined ? "" : ` in ${session}`}${why === undefined ? "" : `: ${why}`}\n`,
    );
  return state === "done" ? 0 : 1;
}

function overview(rows: readonly ScheduleRow[], columns: number): string {
  const cells = rows.map(({ name, times, next_at, totals, ticks: [last], folder }) => [
    ...[name, times, next_at ?? "-", last === undefined ? "-" : `${last.state} ${last.at}`],
    ...[String(totals.claimed), String(totals.missed), String(totals.lost), folder],
  ]);
  return formatTable(["NAME", "TIMES", "NEXT", "LAST", "RUN", "MISSED", "LOST", "FOLDER"], cells, columns);
}

function history({ ticks }: ScheduleRow, columns: number): string {
  const cells = ticks.map(({ at, state, manual, count, at_least, last_at, session, message }) => {
    const more =
      count === undefined || count === 1 ? "" : ` ×${count}${at_least ? " or more" : ""} to ${last_at ?? at}`;
    return [`${at}${more}`, `${state}${manual ? " (by hand)" : ""}`, session ?? "-", message ?? ""];
  });
  return formatTable(["TICK", "STATE", "SESSION", "MESSAGE"], cells, columns);
}

/** Whoever has the files and the key of this user is a person; a program that has a token is what the token says. */
function requirePerson(ports: CliPorts, deed: string): void {
  const token = ports.env[TOKEN_VARIABLE];
  if (token === undefined) return;
  const { identity_class } = tokenParts(ports).authenticator.authenticate(token, TOKEN_VARIABLE);
  if (identity_class === "human") return;
  throw new ReasonError("NotAllowed", `Only a human may ${deed}, and ${TOKEN_VARIABLE} has a token of an agent.`);
}
