/** Holes that need the program as users start it: keys before a question, and older copies of the log. Free of any test library. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as pty from "@lydell/node-pty";
import type { KeysCase, OlderCase } from "./hole-cases.ts";
import type { HoleOutcome } from "./hole-sessions.ts";
import { launcher } from "./launcher.ts";

const PATIENCE_MS = 30_000;
const SCENARIO = `
name: touching
rules:
  - when: {tool: exec}
    reply: [{text: "Done."}]
otherwise: [{tool: exec, args: {command: "touch made.txt"}}]
`;

interface Place {
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  readonly data: string;
  remove(): void;
}

function openPlace(): Place {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-holes-")));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "touching.yaml"), SCENARIO);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    TERM: "xterm",
    XDG_DATA_HOME: join(home, "data"),
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CACHE_HOME: join(home, "cache"),
  };
  return { workspace, env, data: env.XDG_DATA_HOME, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** Types before the question is on the screen, denies it afterwards, and looks for what the command makes. */
export async function runKeys(attempts: readonly KeysCase[]): Promise<HoleOutcome[]> {
  const outcomes: HoleOutcome[] = [];
  for (const attempt of attempts) {
    const place = openPlace();
    const asked = await typeAhead(place, attempt.typed);
    const made = existsSync(join(place.workspace, "made.txt"));
    place.remove();
    outcomes.push({
      attempt,
      ended: asked ? "denied" : "not run",
      effects: made ? ["keys from before the question answered it"] : [],
    });
  }
  return outcomes;
}

/** Whether the question was seen and the program ended. */
async function typeAhead({ workspace, env }: Place, typed: string): Promise<boolean> {
  const args = [launcher, "run", "--model", "scripted:./touching.yaml", "touch it"];
  const terminal = pty.spawn(process.execPath, args, { cwd: workspace, env, cols: 120, rows: 40 });
  let shown = "";
  let isAnswered = false;
  terminal.write(typed);
  terminal.onData((data) => {
    shown += data;
    if (isAnswered || !/\[d\] deny[\s\S]*> $/.test(stripVTControlCharacters(shown))) return;
    isAnswered = true;
    terminal.write("d\r");
  });
  const late = setTimeout(() => terminal.kill("SIGKILL"), PATIENCE_MS);
  await new Promise<void>((done) => terminal.onExit(() => done()));
  clearTimeout(late);
  return isAnswered && shown.includes("Done.");
}

/** Puts an older copy of the log back; "intact" alone is the effect. */
export function runOlder(attempts: readonly OlderCase[]): HoleOutcome[] {
  return attempts.map((attempt) => {
    const place = openPlace();
    const store = ["--store", attempt.store];
    const run = (...args: string[]): { status: number | null; stdout: string } =>
      spawnSync(process.execPath, [launcher, ...args], {
        cwd: place.workspace,
        env: place.env,
        encoding: "utf8",
        timeout: PATIENCE_MS,
        stdio: ["ignore", "pipe", "ignore"],
      });
    const told = run("run", "--json", ...store, "--model", "scripted:offline", "hello");
    const session = /"session":"(sess_\w+)"/.exec(told.stdout)?.[1] ?? "";
    const goOn = (turns: number): void => {
      for (let turn = 0; turn < turns; turn++)
        run("run", ...store, "--model", "scripted:offline", "--resume", session, "more");
    };
    goOn(attempt.turns - 1);
    const kept = attempt.store === "sqlite" ? place.data : join(place.workspace, ".harness");
    cpSync(kept, `${place.data}-copy`, { recursive: true });
    goOn(attempt.later);
    const isGood = run("audit", "verify", session, ...store).status === 0;
    rmSync(kept, { recursive: true });
    cpSync(`${place.data}-copy`, kept, { recursive: true });
    const { status, stdout } = run("audit", "verify", session, ...store);
    place.remove();
    const isFound = status === 3 && /older than the last known head/.test(stdout);
    return {
      attempt,
      ended: isGood ? "held" : "not run",
      effects: isFound ? [] : [`exit ${status}: ${stdout.trim()}`],
    };
  });
}
