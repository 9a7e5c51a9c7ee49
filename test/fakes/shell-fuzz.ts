/** Judges generated shell commands, runs those that pass, and counts what they did that the judge did not see. */
import { quietDecision } from "../../src/governance/quiet-preset.ts";
import { analyseShell } from "../../src/governance/shell/analysis.ts";
import { everyCommand } from "../../src/governance/shell/command.ts";
import { programName } from "../../src/governance/shell/wrappers.ts";
import { createCandidates } from "./shell-candidates.ts";
import { createShellJudge } from "./shell-judge.ts";
import type { Observed, OracleOptions, ShellOracle } from "./shell-oracle.ts";
import { createShellWorkspace } from "./shell-workspace.ts";
import { createRng } from "./tampering.ts";

export interface FuzzFigures {
  readonly judged: number;
  /** Commands that bash ran, their programs recorded. */
  readonly ran: number;
  /** Of those: the ones whose programs ran too. */
  readonly ranReal: number;
  readonly effects: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

export interface ShellFuzz {
  /** Goes on until so many were judged, at most so many ran, and so many of them for real, counted from the beginning. */
  quiet(judged: number, ran: number, ranReal: number): Promise<FuzzFigures>;
  remove(): void;
}

export interface ShellFuzzOptions {
  readonly seed: number;
  /** Milliseconds. */
  readonly now: () => number;
  readonly oracle: (root: string, options: OracleOptions) => ShellOracle;
  /** Gets one line for each effect and each slow judgement. */
  readonly report: (line: string) => void;
}

const BATCH = 500;
/** Commands that ran are not run again; more are not remembered. */
const MAX_REMEMBERED = 2_000_000;
const SLOW_MS = 50;
/** What took longer is timed again: another process may have had the machine. */
const RETIMED_MS = 0.5;
const BUCKETS_PER_MS = 50;

/** Programs that a program starts as part of itself. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  egrep: ["grep", "sh"],
  fgrep: ["grep", "sh"],
  npm: ["node"],
  zcat: ["gzip", "sh"],
  zgrep: ["gzip", "grep", "sh", "sed"],
  which: ["which.debianutils", "sh"],
};
/** What the oracle itself starts. */
const OWN = new Set(["timeout", "bash"]);

export function createShellFuzz({ seed, now, oracle, report }: ShellFuzzOptions): ShellFuzz {
  const workspace = createShellWorkspace();
  const judge = createShellJudge(workspace.root);
  const next = createCandidates(createRng(seed));
  const seen = new Set<string>();
  const buckets = new Uint32Array(SLOW_MS * BUCKETS_PER_MS + 1);
  const totals = { judged: 0, ran: 0, ranReal: 0, effects: 0, worstMs: 0 };
  const oracles = new Map<OracleOptions["programs"], ShellOracle>();
  let waiting: string[] = [];

  function oracleFor(programs: OracleOptions["programs"]): ShellOracle {
    const known = oracles.get(programs) ?? oracle(workspace.root, { writable: true, programs });
    oracles.set(programs, known);
    return known;
  }

  function timed(command: string): boolean {
    const started = now();
    const isQuiet = quietDecision({ tool: "exec", args: { command } }, workspace.root).quiet;
    const firstMs = now() - started;
    const tookMs = firstMs > RETIMED_MS ? steadyMs(command, firstMs) : firstMs;
    const bucket = Math.min(Math.floor(tookMs * BUCKETS_PER_MS), buckets.length - 1);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    totals.worstMs = Math.max(totals.worstMs, tookMs);
    return isQuiet;
  }

  /** The best of a few. A blank behind the command keeps the answer from being remembered. */
  function steadyMs(command: string, first: number): number {
    let best = first;
    for (let tries = 1; tries <= 4; tries++) {
      const started = now();
      quietDecision({ tool: "exec", args: { command: command + " ".repeat(tries) } }, workspace.root);
      best = Math.min(best, now() - started);
    }
    if (best > SLOW_MS) report(`slow: ${best.toFixed(1)} ms: ${JSON.stringify(command)}`);
    return best;
  }

  function p99(): number {
    let left = Math.floor(totals.judged * 0.99);
    for (const [bucket, count] of buckets.entries()) {
      left -= count;
      if (left <= 0) return (bucket + 1) / BUCKETS_PER_MS;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** How many of them ended. */
  function run(commands: readonly string[], programs: OracleOptions["programs"]): number {
    const runner = oracleFor(programs);
    const { observed, changed } = runner.run(commands);
    for (const [index, command] of commands.entries()) {
      const found = observed[index];
      if (found === undefined) report(`did not end: ${JSON.stringify(command)}`);
      if (found === undefined || !isStrange(command, found)) continue;
      // What an earlier command left running may have started it.
      const again = runner.run([command]).observed[0] ?? found;
      if (!isStrange(command, again)) continue;
      totals.effects++;
      report(
        `effect (${programs}): ${JSON.stringify(command)} starts ${strangers(command, again.programs).join(" ")} ${again.connections.join(" ")}`,
      );
    }
    if (changed) blame(commands, programs);
    return observed.filter((found) => found !== undefined).length;
  }

  function blame(commands: readonly string[], programs: OracleOptions["programs"]): void {
    const changers = changersAmong(commands, workspace.root, { oracle, options: { writable: true, programs } });
    for (const command of changers) report(`effect: ${JSON.stringify(command)} changes the workspace`);
    totals.effects += Math.max(1, changers.length);
    if (changers.length === 0)
      report(`effect: one of ${commands.length} commands changed the workspace, and none does alone`);
    // The workspace that was judged is not as it was.
    for (const used of oracles.values()) used.remove();
    oracles.clear();
    workspace.restore();
  }

  return {
    async quiet(judged, ran, ranReal) {
      const runWaiting = (): void => {
        const real = Math.max(0, Math.min(waiting.length, ranReal - totals.ranReal));
        if (waiting.length > 0) totals.ran += run(waiting, "recorded");
        if (real > 0) totals.ranReal += run(waiting.slice(0, real), "real");
        waiting = [];
      };
      while (totals.judged < judged) {
        const command = next();
        totals.judged++;
        if (!timed(command) || totals.ran + waiting.length >= ran || seen.has(command)) continue;
        if ((await judge.judge(command)).outcome !== "allow") continue;
        if (seen.size < MAX_REMEMBERED) seen.add(command);
        waiting.push(command);
        if (waiting.length >= BATCH) runWaiting();
      }
      runWaiting();
      return { ...totals, p99Ms: p99() };
    },
    remove() {
      for (const used of oracles.values()) used.remove();
      workspace.remove();
    },
  };
}

/** Those of the commands that change a workspace, each tried in a new one. */
export function changersAmong(
  commands: readonly string[],
  root: string,
  { oracle, options }: Pick<ShellFuzzOptions, "oracle"> & { readonly options: OracleOptions },
): string[] {
  const changes = (some: readonly string[]): boolean => {
    const other = createShellWorkspace();
    const single = oracle(other.root, options);
    try {
      return single.run(some.map((command) => command.replaceAll(root, other.root))).changed;
    } finally {
      single.remove();
      other.remove();
    }
  };
  const visit = (part: readonly string[]): string[] => {
    if (part.length === 0 || !changes(part)) return [];
    const half = Math.ceil(part.length / 2);
    return part.length === 1 ? [...part] : [...visit(part.slice(0, half)), ...visit(part.slice(half))];
  };
  return visit(commands);
}

function isStrange(command: string, { programs, connections }: Observed): boolean {
  return connections.length > 0 || strangers(command, programs).length > 0;
}

/** Programs that started although the judge did not see them. */
export function strangers(command: string, programs: readonly string[]): string[] {
  const named = [...everyCommand(analyseShell(command).commands)].map(({ words }) => programName(words));
  const known = new Set([...named, ...named.flatMap((name) => PARTS[name] ?? []), ...OWN]);
  return programs.filter((program) => !known.has(program.toLowerCase()));
}
