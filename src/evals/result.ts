/** What came of a case, of its assertions and of a whole suite. Plain data: reports are made of it. */
import type { AssertionType } from "#artifacts";
import type { SessionId } from "#protocol";
import type { CaseMode } from "./case-mode.ts";

/** An event of the log. */
export interface LogPlace {
  readonly session: SessionId;
  readonly event: number;
}

/** What an assertion says about a run. */
export interface Judged {
  readonly passed: boolean;
  /** What was found, in one line. */
  readonly reason: string;
  /** The event that decided; absent where it is that there was none. */
  readonly at?: LogPlace;
}

export interface AssertionResult extends Judged {
  readonly type: AssertionType;
  readonly label: string;
  readonly file: string;
  readonly line: number;
}

/**
 * `broken`: the run did not get to its end, so nothing can be said about the agent. `not_run`: it was not begun, or not ended, for a
 * reason outside it. Neither counts as passed.
 */
export type CaseStatus = "passed" | "failed" | "broken" | "not_run";

export interface CaseResult {
  readonly name: string;
  readonly file: string;
  readonly description?: string;
  readonly category?: string;
  /** From 1; above 1 only with `--repeat`. */
  readonly run: number;
  readonly status: CaseStatus;
  /** Why it is broken or was not run. */
  readonly detail?: string;
  readonly mode?: CaseMode;
  readonly model?: string;
  readonly session?: SessionId;
  readonly assertions: readonly AssertionResult[];
  readonly turns: number;
  readonly tokens: number;
  /** Absent when a price is not known. */
  readonly costUsd?: number;
  /** Of all turns, by the clock of the session. */
  readonly durationMs: number;
}

export interface SuiteResult {
  readonly cases: readonly CaseResult[];
  /** What model calls have really cost; a replay costs nothing. */
  readonly spentUsd: number;
  readonly wallMs: number;
  /** Why it ended before all cases were run. */
  readonly stopped?: string;
}

export function countOf({ cases }: SuiteResult, status: CaseStatus): number {
  return cases.filter((one) => one.status === status).length;
}

export function allPassed(suite: SuiteResult): boolean {
  return countOf(suite, "passed") === suite.cases.length;
}
