/** A suite as a person reads it, and as JSON. */
import { counted, defined, paint, visibleLine } from "#base";
import type { AssertionResult, CaseResult, SuiteProgress, SuiteResult } from "#evals";
import { allPassed, countOf } from "#evals";
import type { OutwardRedactor } from "#program";
import type { Terminal } from "./terminal.ts";

const MARKS = { passed: "✓", failed: "✗", broken: "✗", not_run: "–" } as const;
const COLOURS = { passed: "green", failed: "red", broken: "red", not_run: "yellow" } as const;

const LABEL_CHARS = 60;

/** A result as it may be seen: words of a case are written by people, who put secrets there as elsewhere. Cut only afterwards. */
export function redactedResult(redactor: Pick<OutwardRedactor, "value">, result: CaseResult): CaseResult {
  const clean = redactor.value(result);
  return { ...clean, assertions: clean.assertions.map((one) => ({ ...one, label: shortLabel(one.label) })) };
}

function shortLabel(label: string): string {
  return label.length > LABEL_CHARS ? `${label.slice(0, LABEL_CHARS - 1)}…` : label;
}

/** One line that is written over; nothing where nobody watches. */
export interface ProgressLine {
  show(progress: SuiteProgress): void;
  clear(): void;
}

export function createProgressLine(terminal: Terminal, isQuiet: boolean): ProgressLine {
  const isShown = terminal.interactive && !isQuiet;
  let length = 0;
  const clear = (): void => {
    if (length > 0) terminal.err("\r\u001b[K");
    length = 0;
  };
  return {
    clear,
    show({ done, total, running, spentUsd }) {
      if (!isShown) return;
      const names = visibleLine(running.join(", "));
      const money = spentUsd === 0 ? "" : ` · ${dollars(spentUsd)}`;
      const line = `${done} of ${total}${money}${names === "" ? "" : ` · ${names}`}`;
      const fits = line.slice(0, Math.max(10, Math.min(terminal.columns, 200) - 1));
      terminal.err(`\r\u001b[K${fits}`);
      length = fits.length;
    },
  };
}

export function caseText(terminal: Terminal, result: CaseResult): string {
  const { name, run, category, status, mode, turns, tokens, costUsd, durationMs, detail, session } = result;
  const title = [run === 1 ? name : `${name} #${run}`, ...(category === undefined ? [] : [`(${category})`])].join(" ");
  const facts = [
    mode,
    counted(turns, "turn"),
    `${tokens} tokens`,
    costUsd === undefined ? "cost not known" : dollars(costUsd),
    seconds(durationMs),
  ];
  const head = visibleLine([title, ...(status === "not_run" ? [] : facts)].join(" · "));
  const why = status === "broken" ? "did not finish" : "not run";
  const place = session === undefined ? result.file : `${result.file} · ${session}`;
  return [
    `${paint(terminal, COLOURS[status], MARKS[status])} ${head}\n`,
    ...result.assertions.map((one) => assertionText(terminal, one)),
    ...(detail === undefined ? [] : [`    ${paint(terminal, COLOURS[status], why)}: ${visibleLine(detail)}\n`]),
    ...(status === "broken" ? [`      ${visibleLine(place)}\n`] : []),
  ].join("");
}

function assertionText(terminal: Terminal, { passed, label, reason, file, line, at }: AssertionResult): string {
  const mark = passed ? paint(terminal, "green", "✓") : paint(terminal, "red", "✗");
  const head = `    ${mark} ${visibleLine(`${label}: ${reason}`)}\n`;
  if (passed) return head;
  return `${head}      ${visibleLine(file)}:${line}${at === undefined ? "" : ` · ${at.session} event ${at.event}`}\n`;
}

export function summaryText(terminal: Terminal, suite: SuiteResult): string {
  const { cases, spentUsd, wallMs, stopped } = suite;
  const counts = (["passed", "failed", "broken", "not_run"] as const)
    .map((status) => [countOf(suite, status), status.replace("_", " ")] as const)
    .filter(([count, status]) => count > 0 || status === "passed")
    .map(([count, status]) => `${count} ${status}`);
  const line = `${counts.join(", ")} of ${cases.length} · ${dollars(spentUsd)} spent · ${seconds(wallMs)}`;
  const end = stopped === undefined ? "" : `${paint(terminal, "yellow", `ended early: ${stopped}`)}\n`;
  return `${end}${paint(terminal, allPassed(suite) ? "green" : "red", line)}\n`;
}

export function suiteJson(suite: SuiteResult): string {
  const { cases, spentUsd, wallMs, stopped } = suite;
  return JSON.stringify({
    passed: allPassed(suite),
    counts: {
      passed: countOf(suite, "passed"),
      failed: countOf(suite, "failed"),
      broken: countOf(suite, "broken"),
      not_run: countOf(suite, "not_run"),
    },
    spent_usd: spentUsd,
    wall_ms: Math.round(wallMs),
    ...defined({ stopped }),
    cases: cases.map(({ costUsd, durationMs, ...one }) => ({
      ...one,
      ...defined({ cost_usd: costUsd }),
      duration_ms: durationMs,
    })),
  });
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
