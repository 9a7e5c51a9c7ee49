/** One run of one case: a folder and a program of its own, the turns one after another, then the grading. */
import { type Clock, defined, messageOf } from "#base";
import type { Control, ControlClient } from "#control";
import type { Plugin, RequestMiddleware, TurnSummary } from "#engine";
import { type Event, type Reason, ReasonError, type SessionId } from "#protocol";
import { createWorkspaceFiles } from "#world";
import type { CaseMode } from "./case-mode.ts";
import { makeCaseFolder } from "./case-workspace.ts";
import { grade } from "./grade.ts";
import type { LoadedCase } from "./load-suite.ts";
import type { AssertionResult, CaseResult } from "./result.ts";
import { createRunLog, type RunLog } from "./run-log.ts";
import type { Spending } from "./spending.ts";

const DEFAULT_TURN_TIMEOUT_MS = 120_000;

/** How rules, hooks and limits may end a turn: that is what cases are about. Any other failure says nothing about the agent. */
const GOVERNED_ENDS: ReadonlySet<Reason> = new Set([
  "HookBlocked",
  "BudgetExceeded",
  "StepLimit",
  "LoopDetected",
  "KindVerificationFailed",
]);

export interface CaseOpening {
  readonly loaded: LoadedCase;
  readonly mode: CaseMode;
  /** Absolute. */
  readonly workspace: string;
  /** The scenario of the case, as a file. */
  readonly scenarioFile?: string;
  /** Where a recording is written, or which one is played. */
  readonly cassette: string;
  /** Sees every event of the run, and every request to a model. */
  readonly plugin: Plugin;
}

export interface CaseProgram {
  readonly control: Control;
  /** `provider:name`. */
  readonly model: string;
  /** Writes the cassette of a recording; rejects when a replay has missed something. */
  shutdown(): Promise<void>;
}

/** Puts the program of one run together. Nothing of it outlasts `shutdown`, except the cassette of a recording. */
export type OpenCase = (opening: CaseOpening) => Promise<CaseProgram>;

export interface CaseRequest {
  readonly loaded: LoadedCase;
  readonly mode: CaseMode;
  readonly run: number;
  readonly open: OpenCase;
  readonly clock: Clock;
  readonly spending: Spending;
  /** Folders that files may be copied from, besides that of the case. */
  readonly sources: readonly string[];
  /** What a log holds in place of a text. */
  readonly redact: (text: string) => string;
  /** Somebody wants the suite to end. */
  readonly signal: AbortSignal;
}

export interface CaseRun {
  readonly result: CaseResult;
  readonly events: readonly Event[];
}

/** Never rejects. */
export async function runCase(request: CaseRequest): Promise<CaseRun> {
  const { loaded, mode, run, spending, signal } = request;
  const { name, description, category, setup, grade: assertions } = loaded.evalCase;
  const events: Event[] = [];
  const base = {
    name,
    file: loaded.shown,
    run,
    mode,
    ...defined({ description, category }),
  };
  let model: string | undefined;
  let log = createRunLog(events, undefined);
  const ended = (status: CaseResult["status"], results: readonly AssertionResult[], detail?: string): CaseRun => {
    const costUsd = log.costUsd();
    return {
      events,
      result: {
        ...base,
        status,
        assertions: results,
        turns: log.turns(),
        tokens: log.tokens(),
        durationMs: log.durationMs(),
        ...defined({ detail, model, costUsd, session: log.session }),
      },
    };
  };
  let folder: Awaited<ReturnType<typeof makeCaseFolder>>;
  try {
    folder = await makeCaseFolder(setup.files, loaded.path, request.sources);
  } catch (error) {
    return ended("broken", [], messageOf(error));
  }
  try {
    const scenarioFile =
      loaded.scenario === undefined ? undefined : await folder.putAside("scenario.yaml", loaded.scenario.text);
    const cassette = mode === "record" ? folder.aside("case.cassette") : loaded.cassette;
    const outcome = await play(request, {
      loaded,
      mode,
      cassette,
      workspace: folder.workspace,
      plugin: casePlugin(request, (event) => void events.push(event)),
      ...defined({ scenarioFile }),
    });
    model = outcome.model;
    log = createRunLog(events, outcome.session);
    if (signal.aborted) return ended("not_run", [], "it was interrupted");
    if (outcome.failure !== undefined) {
      const isMoney = outcome.failure.reason === "BudgetExceeded" && spending.exhausted !== undefined;
      return isMoney ? ended("not_run", [], spending.exhausted) : ended("broken", [], outcome.failure.message);
    }
    // One of a run that did not get to its end would take the place of a good one.
    if (mode === "record") await folder.keep(cassette, loaded.cassette);
    const results = await gradeAll(loaded, log, folder.workspace);
    return ended(results.every(({ passed }) => passed) ? "passed" : "failed", results);
  } catch (error) {
    return ended("broken", [], messageOf(error));
  } finally {
    await folder.remove();
  }

  async function gradeAll({ shown }: LoadedCase, of: RunLog, workspace: string): Promise<readonly AssertionResult[]> {
    const files = createWorkspaceFiles(workspace);
    const results: AssertionResult[] = [];
    for (const { assertion, label, place } of assertions) {
      const judged = await grade(assertion, { log: of, files, redact: request.redact });
      results.push({ type: assertion.type, label, file: shown, line: place.line, ...judged });
    }
    return results;
  }
}

interface Played {
  readonly model?: string;
  readonly session?: SessionId;
  /** Why nothing can be said about the agent. */
  readonly failure?: { readonly reason?: Reason; readonly message: string };
}

async function play(request: CaseRequest, opening: CaseOpening): Promise<Played> {
  let program: CaseProgram;
  try {
    program = await request.open(opening);
  } catch (error) {
    return { failure: failureOf(error) };
  }
  let session: SessionId | undefined;
  let failure: Played["failure"];
  try {
    const client = program.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
    ({ session } = await client.submit({ kind: "CreateSession", working_dir: opening.workspace }));
    failure = await sendTurns(request, client, session);
  } catch (error) {
    failure = failureOf(error);
  }
  try {
    await program.shutdown();
  } catch (error) {
    failure ??= failureOf(error);
  }
  const { model } = program;
  return { model, ...defined({ session, failure }) };
}

async function sendTurns(
  { loaded, clock, signal, spending }: CaseRequest,
  client: ControlClient,
  session: SessionId,
): Promise<Played["failure"]> {
  const { turns, timeoutMs = DEFAULT_TURN_TIMEOUT_MS } = loaded.evalCase;
  const cancel = (): void => void client.submit({ kind: "CancelTurn", session }).catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    for (const [index, text] of turns.entries()) {
      if (signal.aborted) return { message: "it was interrupted" };
      const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
      const turn = await withTimeout(done, timeoutMs, clock, cancel);
      const failure = turnFailure(turn, index + 1, timeoutMs, spending);
      if (failure !== undefined) return failure;
    }
    return undefined;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

type TimedTurn = TurnSummary & { readonly isLate: boolean };

async function withTimeout(
  done: Promise<TurnSummary>,
  ms: number,
  clock: Clock,
  cancel: () => void,
): Promise<TimedTurn> {
  const over = new AbortController();
  let isLate = false;
  void clock.sleep(ms, over.signal).then(() => {
    if (over.signal.aborted) return;
    isLate = true;
    cancel();
  });
  try {
    return { ...(await done), isLate };
  } finally {
    over.abort();
  }
}

function turnFailure(
  { outcome, reason, message, isLate }: TimedTurn,
  number: number,
  timeoutMs: number,
  { exhausted }: Spending,
): Played["failure"] {
  if (outcome === "answered" || outcome === "yielded" || outcome === "step_limit") return undefined;
  if (isLate) return { message: `turn ${number} took longer than ${timeoutMs} ms` };
  const isMoneyOfSuite = reason === "BudgetExceeded" && exhausted !== undefined;
  if (reason !== undefined && GOVERNED_ENDS.has(reason) && !isMoneyOfSuite) return undefined;
  const why = message === undefined ? (reason ?? outcome) : `${reason ?? outcome}: ${message}`;
  return { message: `turn ${number} ended with ${why}`, ...defined({ reason }) };
}

function failureOf(error: unknown): NonNullable<Played["failure"]> {
  return error instanceof ReasonError
    ? { reason: error.reason, message: `${error.reason}: ${error.message}` }
    : { message: messageOf(error) };
}

function casePlugin({ loaded, mode, spending }: CaseRequest, onEvent: (event: Event) => void): Plugin {
  const { maxTokens } = loaded.evalCase;
  return {
    name: "eval",
    register(host) {
      host.onEvent(onEvent);
      if (mode === "live" || mode === "record") host.useRequest(spending.gate);
      if (maxTokens !== undefined) host.useRequest(capped(maxTokens));
    },
  };
}

function capped(maxTokens: number): RequestMiddleware {
  return (call, next) => next({ ...call, request: { ...call.request, maxTokens } });
}
