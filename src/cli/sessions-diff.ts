/** `harness sessions diff`: the first turn in which two sessions differ, and how, as a difference of their transcripts. */

import { type DiffLine, diffLines, paint, visibleLine, withContext } from "#base";
import { cleanTranscript, findSession, type OutwardRedactor, type StoreFlags, withStore } from "#program";
import type { SessionId } from "#protocol";
import type { ArchiveStore } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

/** Lines of each side that are compared from the first difference on. */
const MAX_LINES = 2000;
const CONTEXT_LINES = 3;

/** What is left of a transcript from the first turn that differs. */
interface Rest {
  readonly lines: readonly string[];
  readonly cut: boolean;
}

export async function diffSessions(
  ports: CliPorts,
  nameA: string,
  nameB: string,
  flags: StoreFlags & { readonly json?: boolean },
): Promise<ExitCode> {
  const { terminal } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const redactor = await ports.outward.load();
    const a = (await findSession(store, nameA)).id;
    const b = (await findSession(store, nameB)).id;
    const { turn, before, after } = await firstDifference(turnsOf(redactor, store, a), turnsOf(redactor, store, b));
    const lines = diffLines(before.lines, after.lines);
    if (flags.json) {
      const changes = lines.filter(({ mark }) => mark !== " ").map(({ mark, text }) => mark + text);
      terminal.out(`${JSON.stringify({ a, b, first_differing_turn: turn ?? null, changes })}\n`);
      return 0;
    }
    if (turn === undefined) {
      terminal.out("The two sessions have the same transcript.\n");
      return 0;
    }
    terminal.out(`--- ${a}\n+++ ${b}\n`);
    terminal.out(`The first difference is in turn ${turn}.\n`);
    for (const line of withContext(lines, CONTEXT_LINES)) terminal.out(`${show(ports, line)}\n`);
    if (before.cut || after.cut) terminal.err(`Only ${MAX_LINES} lines of each side were compared.\n`);
    return 0;
  });
}

async function firstDifference(
  a: AsyncGenerator<string>,
  b: AsyncGenerator<string>,
): Promise<{ readonly turn?: number; readonly before: Rest; readonly after: Rest }> {
  const none: Rest = { lines: [], cut: false };
  for (let turn = 1; ; turn++) {
    const [left, right] = [await a.next(), await b.next()];
    if (left.done === true && right.done === true) return { before: none, after: none };
    if (left.done !== true && right.done !== true && left.value === right.value) continue;
    const before = left.done === true ? none : await restOf(left.value, a);
    const after = right.done === true ? none : await restOf(right.value, b);
    return { turn, before, after };
  }
}

async function restOf(first: string, turns: AsyncGenerator<string>): Promise<Rest> {
  const lines = first.split("\n");
  while (lines.length <= MAX_LINES) {
    const next = await turns.next();
    if (next.done === true) break;
    for (const line of next.value.split("\n")) lines.push(line);
  }
  return { lines: lines.slice(0, MAX_LINES), cut: lines.length > MAX_LINES };
}

/** The transcript of each turn, without what differs between two runs of the same thing. */
async function* turnsOf(redactor: OutwardRedactor, store: ArchiveStore, id: SessionId): AsyncGenerator<string> {
  const meta = await findSession(store, id);
  let turn = 0;
  let text = "";
  for await (const part of cleanTranscript(redactor, store, meta, false)) {
    if (part.turn === 0) continue;
    if (part.turn !== turn && turn > 0) yield text;
    text = part.turn === turn ? `${text}\n${part.text}\n` : `${part.text}\n`;
    turn = part.turn;
  }
  if (turn > 0) yield text;
}

function show({ terminal }: CliPorts, line: DiffLine | undefined): string {
  if (line === undefined) return paint(terminal, "dim", "…");
  const text = visibleLine(line.mark + line.text);
  if (line.mark === " ") return text;
  return paint(terminal, line.mark === "-" ? "red" : "green", text);
}
