/** All holes and their variations that need no program of their own, one kind after the other. Free of any test library. */
import { createSeededRandom } from "../corpora/seeded-random.ts";
import { createHoleArena, type HoleArena } from "./hole-arena.ts";
import type { HoleCase } from "./hole-cases.ts";
import { runFolders, runJudged, runQuestions, runSessions, runValues } from "./hole-checks.ts";
import {
  countWithoutConfinement,
  type HoleOutcome,
  isAllowed,
  runCalls,
  runConfined,
  runEncoded,
} from "./hole-sessions.ts";

export interface HoleCampaign {
  readonly outcomes: readonly HoleOutcome[];
  /** Commands that bash ran with nothing around them, and how many of them had an effect. */
  readonly control: { readonly ran: number; readonly effects: number };
}

/** Cases of holes 10 and 12 are left out: they need the program in a process of its own. `controls`: how many commands bash runs plainly. */
export async function runHoleCampaign(
  cases: readonly HoleCase[],
  seed: number,
  controls: number,
): Promise<HoleCampaign> {
  const arena = await createHoleArena();
  try {
    const outcomes = await runAll(arena, cases, seed);
    // A command that only reads is hostile by what the repository has planted, which git obeys or not.
    const commands = of(cases, "command").filter((command) => command.plant === undefined || isAllowed(command));
    const every = Math.max(1, Math.ceil(commands.length / controls));
    const sample = commands.filter((_, index) => index % every === 0);
    return { outcomes, control: { ran: sample.length, effects: await countWithoutConfinement(arena, sample) } };
  } finally {
    await arena.close();
  }
}

async function runAll(arena: HoleArena, cases: readonly HoleCase[], seed: number): Promise<HoleOutcome[]> {
  const commands = of(cases, "command");
  // What a rule allows may change the workspace; everything else could have been taken for quiet.
  const mightBeQuiet = commands.filter((command) => command.plant === undefined && !isAllowed(command));
  // With rules that allow Bash and deny one program, which the sandbox then takes away.
  const denied = commands.filter(({ rules = [] }) => rules.length === 2);
  return [
    ...(await runCalls(arena, [...commands, ...of(cases, "file")])),
    ...(await runConfined(arena, mightBeQuiet, "reader")),
    ...(await runConfined(arena, denied, "workspace")),
    ...(await runSessions(arena, of(cases, "sessions"))),
    ...(await runFolders(arena, of(cases, "folder"))),
    ...(await runJudged(arena, of(cases, "judged"))),
    ...(await runQuestions(of(cases, "question"))),
    ...(await runEncoded(arena, of(cases, "encoded"))),
    ...(await runValues(arena, of(cases, "value"), createSeededRandom(seed))),
  ];
}

export function of<Kind extends HoleCase["kind"]>(
  cases: readonly HoleCase[],
  kind: Kind,
): (HoleCase & { kind: Kind })[] {
  return cases.filter((one): one is HoleCase & { kind: Kind } => one.kind === kind);
}
