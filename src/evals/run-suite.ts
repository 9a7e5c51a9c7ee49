/** All runs of a suite, side by side up to a bound, told in the order of the suite. */
import { defined } from "#base";
import type { Event } from "#protocol";
import type { CaseMode, ModeChoice } from "./case-mode.ts";
import type { LoadedCase } from "./load-suite.ts";
import type { CaseResult, SuiteResult } from "./result.ts";
import { type CaseRequest, runCase } from "./run-case.ts";

export interface PlannedCase {
  readonly loaded: LoadedCase;
  readonly choice: ModeChoice;
}

export interface SuiteProgress {
  readonly done: number;
  readonly total: number;
  /** Names of the cases that run now. */
  readonly running: readonly string[];
  readonly spentUsd: number;
}

export interface SuiteOptions extends Omit<CaseRequest, "loaded" | "mode" | "run"> {
  readonly cases: readonly PlannedCase[];
  /** How often each case is run. */
  readonly repeat: number;
  /** How many runs there are at once. */
  readonly jobs: number;
  readonly onProgress: (progress: SuiteProgress) => void;
  /** In the order of the suite, each as soon as those before it are done. */
  readonly onResult: (result: CaseResult) => void;
  /** The log of a run that was begun. */
  readonly onLog: (result: CaseResult, events: readonly Event[]) => Promise<void>;
}

/** Never rejects because of a case. Ends early when the money is used up or `signal` aborts; what was not run is told as such. */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { cases, repeat, jobs, clock, spending, signal } = options;
  const startMs = clock.monotonicMs();
  const runs = cases.flatMap((planned) =>
    Array.from({ length: repeat }, (_, index) => ({ ...planned, run: index + 1 })),
  );
  const results: (CaseResult | undefined)[] = runs.map(() => undefined);
  const running = new Map<number, string>();
  let next = 0;
  let told = 0;

  function tell(): void {
    for (let result = results[told]; result !== undefined; result = results[told]) {
      options.onResult(result);
      told += 1;
    }
    const done = results.filter((result) => result !== undefined).length;
    options.onProgress({ done, total: runs.length, running: [...running.values()], spentUsd: spending.spentUsd });
  }

  async function work(): Promise<void> {
    for (let index = next; index < runs.length; index = next) {
      next += 1;
      const planned = runs[index];
      if (planned === undefined) return;
      running.set(index, planned.loaded.evalCase.name);
      tell();
      const result = await one(planned.loaded, planned.choice, planned.run);
      running.delete(index);
      results[index] = result;
      tell();
    }
  }

  async function one(loaded: LoadedCase, choice: ModeChoice, run: number): Promise<CaseResult> {
    if ("notRun" in choice) return notRun(loaded, run, choice.notRun);
    if (signal.aborted) return notRun(loaded, run, "it was interrupted", choice.mode);
    const isPaid = choice.mode === "live" || choice.mode === "record";
    if (isPaid && spending.exhausted !== undefined) return notRun(loaded, run, spending.exhausted, choice.mode);
    const { result, events } = await runCase({ ...options, loaded, mode: choice.mode, run });
    await options.onLog(result, events);
    return result;
  }

  await Promise.all(Array.from({ length: Math.min(jobs, runs.length) }, work));
  const stopped = signal.aborted ? "interrupted" : spending.exhausted;
  return {
    cases: results.filter((result) => result !== undefined),
    spentUsd: spending.spentUsd,
    wallMs: clock.monotonicMs() - startMs,
    ...defined({ stopped }),
  };
}

function notRun({ evalCase, shown }: LoadedCase, run: number, detail: string, mode?: CaseMode): CaseResult {
  const { name, description, category } = evalCase;
  return {
    name,
    file: shown,
    run,
    status: "not_run",
    detail,
    assertions: [],
    turns: 0,
    tokens: 0,
    durationMs: 0,
    ...defined({ mode, description, category }),
  };
}
