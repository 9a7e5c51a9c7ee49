/** Holes that are no calls of a session: folders, the judge's time, questions, and values in what a model is sent. Free of any test library. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Event } from "#protocol";
import { createAsker } from "../../src/cli/ask.ts";
import type { QuestionScreen } from "../../src/cli/terminal.ts";
import type { SeededRandom } from "../corpora/seeded-random.ts";
import { type HoleArena, type HoleFolder, KEY } from "./hole-arena.ts";
import {
  type FolderCase,
  fillValue,
  type JudgedCase,
  type QuestionCase,
  type SessionsCase,
  type ValueCase,
} from "./hole-cases.ts";
import { type HoleOutcome, runSession } from "./hole-sessions.ts";
import { openMemoryHarness } from "./memory-harness.ts";
import { createShellJudge } from "./shell-judge.ts";

const JUDGED_MS = 50;

/** A session there is the effect. */
export async function runFolders(arena: HoleArena, attempts: readonly FolderCase[]): Promise<HoleOutcome[]> {
  const folder = arena.folder();
  for (const name of [".config/harness", ".local/share/harness/x"])
    mkdirSync(join(folder.home, name), { recursive: true });
  const harness = await openMemoryHarness({
    workspace: folder.workspace,
    model: "openai:mock-model",
    env: { ...folder.env, OPENAI_API_KEY: KEY },
  });
  const client = harness.control.connect({ identityClass: "human", interactive: false });
  const outcomes: HoleOutcome[] = [];
  for (const attempt of attempts) {
    const working_dir = attempt.folder.replace("HOME", folder.home);
    const opened = await client.submit({ kind: "CreateSession", working_dir }).then(
      () => true,
      () => false,
    );
    outcomes.push({
      attempt,
      ended: opened ? "ran" : "denied",
      effects: opened ? [`a session in ${working_dir}`] : [],
    });
  }
  await harness.shutdown();
  folder.remove();
  return outcomes;
}

/** Other sessions of the same program come first; the last one must be as confined as ever. */
export async function runSessions(arena: HoleArena, attempts: readonly SessionsCase[]): Promise<HoleOutcome[]> {
  const outcomes: HoleOutcome[] = [];
  for (const attempt of attempts) {
    const folder = arena.folder();
    const before = attempt.before.map((name, index) => placeBefore(folder, name, index));
    const calls = [["exec", { command: folder.fill(attempt.command, "mark-0") }]] as const;
    const run = await runSession(folder, calls, {}, { before, autoApprove: true });
    const isConfined = run.events.some(
      ({ kind, payload }) => kind === "SandboxStatus" && "active" in payload && payload.active === true,
    );
    const changes = folder.changes({ ordinary: false }).filter((name) => !name.startsWith("poisoned"));
    folder.remove();
    outcomes.push({
      attempt,
      ended: run.outcomes[0] === "denied" ? "denied" : "ran",
      effects: [
        ...changes.map((name) => `changed ${name}`),
        ...(run.leaked ? ["a secret reached the model"] : []),
        ...(isConfined ? [] : ["the sandbox was not active"]),
      ],
    });
  }
  return outcomes;
}

function placeBefore(folder: HoleFolder, name: string, index: number): string {
  if (name !== "poisoned") return name.replace("HOME", folder.home);
  const poisoned = join(folder.home, `poisoned-${index}`);
  mkdirSync(join(poisoned, ".git/modules/e/config"), { recursive: true });
  writeFileSync(join(poisoned, ".git/config"), "[core]\n\thooksPath = no-such/folder\n");
  return poisoned;
}

/** Measured in time of this thread's processor, because others use the machine too; a slow one gets two more tries. */
export async function runJudged(arena: HoleArena, attempts: readonly JudgedCase[]): Promise<HoleOutcome[]> {
  const folder = arena.folder();
  const outcomes: HoleOutcome[] = [];
  await createShellJudge(folder.workspace).judge("ls | head");
  for (const attempt of attempts) {
    const judge = createShellJudge(folder.workspace, attempt.rules);
    let ms = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3 && ms > JUDGED_MS; tries++) {
      const before = process.threadCpuUsage();
      await judge.judge(attempt.command);
      const { user, system } = process.threadCpuUsage(before);
      ms = Math.min(ms, (user + system) / 1000);
    }
    outcomes.push({ attempt, ended: "held", effects: ms > JUDGED_MS ? [`judging took ${ms.toFixed(0)} ms`] : [] });
  }
  folder.remove();
  return outcomes;
}

/** Rows of ours begin like this; every other row of a question is a row of its content. */
const CONTENT = /^ {2}[│↪├] /u;
const OURS =
  /^(?:Bash wants to|Asked because:|Runs in:|\[g\] would allow:|[\d,]+ lines?, [\d,]+(?: b|$)|\[[ogtdv]\]|>|… \d+ more (?:line|row)s?;|[ogt, ]+ or d; v shows all again|page \d+ of \d+|\d+\/\d+: any key: next)/u;
/** The beginning of what a screen shows that is too small for a question; there only a denial counts. */
const TOO_SMALL = /^ {2}A question nee/u;
/** Not our own table of what is visible: whatever Unicode calls other than a mark, a letter, a number, a sign or a space. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u3164\u115f\u1160\u2800]|\p{Mn}{5}|(?! )\p{Zs}/u;

/** Asks as the terminal does, has everything shown, and reads the screen. */
export async function runQuestions(attempts: readonly QuestionCase[]): Promise<HoleOutcome[]> {
  const outcomes: HoleOutcome[] = [];
  for (const attempt of attempts) {
    const shown = await askedAbout(attempt);
    const rows = shown.split("\n");
    const content = rows.filter((row) => CONTENT.test(row));
    const effects = [
      ...rows.filter((row) => HIDDEN.test(row)).map((row) => `a hidden character in ${JSON.stringify(row)}`),
      ...rows
        .filter((row) => row.trim() !== "" && !CONTENT.test(row) && !OURS.test(row.trim()) && !TOO_SMALL.test(row))
        .map((row) => `a forged row ${JSON.stringify(row)}`),
      ...(readBack(content).includes(attempt.command) || rows.some((row) => TOO_SMALL.test(row))
        ? []
        : ["not everything was shown"]),
    ];
    outcomes.push({ attempt, ended: "held", effects });
  }
  return outcomes;
}

/** The text that rows of content stand for. */
function readBack(rows: readonly string[]): string {
  const lines = rows.map((row) => (row.startsWith("  ↪ ") ? row.slice(4) : `\n${row.slice(4)}`)).join("");
  return lines
    .replaceAll("⇥   ", "\t")
    .replaceAll(/⟨U\+([0-9A-F]+)⟩/gu, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

async function askedAbout({ command, columns = 80, rows = 24 }: QuestionCase): Promise<string> {
  let shown = "";
  const say = (text: string): void => {
    shown += text;
  };
  const answers = ["v"];
  const screen: QuestionScreen = {
    show: say,
    columns,
    rows,
    colour: false,
    readAnswer: async (keys) => {
      shown += `${keys}\n`;
      const text = answers.shift();
      return text === undefined ? { kind: "end" } : { kind: "line", text };
    },
    readKey: async (prompt) => {
      shown += `${prompt}\n`;
      return { kind: "key", key: " " };
    },
  };
  const asker = createAsker({
    terminal: { err: say, ask: (question) => question(screen) },
    outward: { describe: async (error) => String(error) },
    renderer: { finishLine: () => undefined },
    client: () => ({ submit: async (_command: Command) => undefined }),
    reviewAck: async () => undefined,
  });
  const payload = {
    call_id: "c",
    label: "Bash",
    reason: "touch is not quiet",
    summary: command,
    args: { command },
    confinement: "workspace",
  };
  // Only what a question is made of.
  asker.handle({ kind: "PermissionRequested", session: "s", payload } as unknown as Event);
  await asker.idle();
  return shown;
}

/** Values in a file that the model reads. */
export async function runValues(
  arena: HoleArena,
  attempts: readonly ValueCase[],
  random: SeededRandom,
): Promise<HoleOutcome[]> {
  const folder = arena.folder();
  const filled = attempts.map(({ text }) => fillValue(text, random));
  const calls = filled.map(({ text }, index) => {
    const path = `value-${index}.txt`;
    writeFileSync(join(folder.workspace, path), `# settings\n${text}\n`);
    return ["fs_read", { path }] as const;
  });
  const { sent, outcomes } = await runSession(folder, calls, {});
  folder.remove();
  return attempts.map((attempt, index) => ({
    attempt,
    ended: outcomes[index] === "ok" ? "ran" : "not run",
    effects: sent.includes(filled[index]?.secret ?? "") ? [`${filled[index]?.text} reached the model`] : [],
  }));
}
