/** `harness eval`: runs cases and grades them; a suite is its exit code. */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Problem } from "#artifacts";
import { counted, defined, paint, visibleLine } from "#base";
import {
  allPassed,
  type CaseResult,
  createEvalCases,
  createScriptChecker,
  createSpending,
  DEFAULT_CASES,
  type EvalFlags,
  evalsXml,
  filterCases,
  loadSuite,
  type PreparedCase,
  requireAckedCases,
  runSuite,
  unknownNames,
} from "#evals";
import { namesProject, type OutwardRedactor, problemText, userFlags } from "#program";
import { type Event, ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { caseText, createProgressLine, redactedResult, suiteJson, summaryText } from "./eval-report.ts";
import type { ExitCode } from "./exit-code.ts";
import { reviewAt } from "./file-review.ts";
import { writeNamedFile } from "./named-file.ts";

export interface EvalCommandFlags extends Omit<EvalFlags, "wanted"> {
  readonly case?: readonly string[];
  readonly category?: readonly string[];
  readonly budget?: number;
  readonly dryRun?: boolean;
  readonly live?: boolean;
  readonly record?: boolean;
  readonly replay?: boolean;
  readonly repeat: number;
  readonly jobs: number;
  readonly json?: boolean;
  readonly junit?: string;
  readonly logs?: string;
}

export async function evalCommand(
  ports: CliPorts,
  paths: readonly string[],
  flags: EvalCommandFlags,
): Promise<ExitCode> {
  const wanted = wantedMode(flags);
  const suite = await loadSuite({
    cwd: ports.cwd,
    paths: suitePaths(ports, paths, flags),
    checker: createScriptChecker(),
  });
  const { case: names, category: categories } = flags;
  const told = await ports.outward.through(ports, false, "messages");
  refuseErrors(told, suite.problems);
  const chosen = filterCases(suite.cases, {
    ...defined({ names, categories }),
  });
  const review = ports.terminal.interactive ? reviewAt(ports) : undefined;
  const { prepare } = await createEvalCases(ports, {
    ...userFlags(flags),
    ...defined({ wanted, review }),
  });
  const prepared: PreparedCase[] = [];
  for (const loaded of chosen) prepared.push(await prepare(loaded));
  refuseErrors(
    told,
    prepared.flatMap(({ loaded, known }) => unknownNames(loaded, known)),
  );
  const redactor = await ports.outward.load();
  if (flags.dryRun === true) return printPlan(await ports.outward.through(ports, flags.json), prepared, flags);
  // What is replayed reaches neither a program, nor the network, nor a file of its own choosing.
  const acting = prepared.filter(({ choice }) => "mode" in choice && choice.mode !== "replay");
  await requireAckedCases(
    ports,
    acting.map(({ loaded }) => loaded),
    defined({ lockfile: flags.lockfile, review }),
  );
  return run(ports, prepared, flags, redactor);
}

async function run(
  ports: CliPorts,
  prepared: readonly PreparedCase[],
  flags: EvalCommandFlags,
  redactor: OutwardRedactor,
): Promise<ExitCode> {
  const { terminal, clock, cwd } = ports;
  const progress = createProgressLine(terminal, flags.json === true);
  const stop = new AbortController();
  const stopListening = terminal.onInterrupt(() => {
    progress.clear();
    terminal.err("Stopping; finished cases are reported.\n");
    stop.abort();
  });
  const openers = new Map(prepared.map(({ loaded, open }) => [loaded, open]));
  try {
    const raw = await runSuite({
      cases: prepared,
      repeat: flags.repeat,
      // A recording must not wait for another case: that is nothing which a replay could tell.
      jobs: flags.record === true && flags.budget !== undefined ? 1 : flags.jobs,
      clock,
      spending: createSpending(flags.budget),
      sources: [cwd],
      redact: redactor.text,
      signal: stop.signal,
      open(opening) {
        const open = openers.get(opening.loaded);
        if (open === undefined) throw new Error("a case runs that was not prepared");
        return open(opening);
      },
      onProgress: (state) => progress.show(redactor.value(state)),
      onResult(one) {
        progress.clear();
        if (flags.json !== true) terminal.out(caseText(terminal, redactedResult(redactor, one)));
      },
      onLog: (one, events) => writeLog(ports, flags.logs, redactedResult(redactor, one), events),
    });
    progress.clear();
    const result = { ...raw, cases: raw.cases.map((one) => redactedResult(redactor, one)) };
    terminal.out(flags.json === true ? `${suiteJson(result)}\n` : `\n${summaryText(terminal, result)}`);
    if (flags.junit !== undefined) await writeNamedFile(resolve(cwd, flags.junit), evalsXml(result));
    if (stop.signal.aborted) return 130;
    return allPassed(result) ? 0 : 1;
  } finally {
    stopListening();
  }
}

function printPlan({ terminal }: CliPorts, prepared: readonly PreparedCase[], { json }: EvalCommandFlags): ExitCode {
  const rows = prepared.map(({ loaded, choice }) => ({
    name: loaded.evalCase.name,
    file: loaded.shown,
    mode: "mode" in choice ? choice.mode : undefined,
    not_run: "notRun" in choice ? choice.notRun : undefined,
    turns: loaded.evalCase.turns.length,
    assertions: loaded.evalCase.grade.length,
  }));
  if (json === true) {
    terminal.out(`${JSON.stringify({ valid: true, cases: rows })}\n`);
    return 0;
  }
  for (const { name, file, turns, assertions, mode, not_run } of rows) {
    const how = mode ?? `would not run: ${not_run}`;
    const size = `${counted(turns, "turn")}, ${counted(assertions, "assertion")}`;
    terminal.out(`${visibleLine(`${name} · ${file} · ${size} · ${how}`)}\n`);
  }
  terminal.out(`${counted(rows.length, "case")} checked without errors. Nothing was run.\n`);
  return 0;
}

/** Warnings are told; with an error nothing is run. */
function refuseErrors({ terminal }: CliPorts, problems: readonly Problem[]): void {
  for (const problem of problems.filter(({ severity }) => severity === "warning")) {
    terminal.err(`${paint(terminal, "yellow", `warning: ${visibleLine(problemText(problem))}`)}\n`);
  }
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ReasonError("ConfigInvalid", errors.map(problemText).join("\n"));
}

function wantedMode({ live, record, replay, repeat, model }: EvalCommandFlags): EvalFlags["wanted"] {
  const flags = { live, record, replay };
  const asked = (["live", "record", "replay"] as const).filter((flag) => flags[flag] === true);
  if (asked.length > 1) throw new ReasonError("UsageInvalid", `--${asked.join(" and --")} cannot be combined`);
  if (record === true && repeat > 1) {
    throw new ReasonError("UsageInvalid", "--record writes one cassette for each case: remove --repeat");
  }
  // Another model is asked for: the cassettes are of the ones they were recorded with.
  return asked[0] ?? (model === undefined ? undefined : "live");
}

function suitePaths({ cwd }: CliPorts, paths: readonly string[], { config }: EvalCommandFlags): readonly string[] {
  if (paths.length > 0) return paths;
  const root = config !== undefined && namesProject(config) ? dirname(resolve(cwd, config)) : cwd;
  const folder = join(root, DEFAULT_CASES);
  if (existsSync(folder)) return [folder];
  throw new ReasonError("UsageInvalid", `there is no ${folder}: name the cases, or the folder they are in`);
}

async function writeLog(
  { cwd }: CliPorts,
  folder: string | undefined,
  { name, run: number }: CaseResult,
  events: readonly Event[],
): Promise<void> {
  if (folder === undefined) return;
  const file = join(resolve(cwd, folder), `${name}${number === 1 ? "" : `#${number}`}.jsonl`);
  await writeNamedFile(file, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}
