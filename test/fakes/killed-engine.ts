/** A program that starts a command in the sandbox and is killed with SIGKILL: what is left of it afterwards. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";
import { processesWith } from "./marked-processes.ts";

const GONE_WITHIN_MS = 2_000;
const LOOK_PAUSE_MS = 20;

export interface KilledEngine {
  /** Processes that the command has started so far, the engine itself among them. */
  running(): number[];
  /** `begins`: the command is about to be started; `runs`: it has begun. */
  said(word: "begins" | "runs"): Promise<void>;
  /** Who is still there two seconds after the kill. */
  kill(): Promise<number[]>;
}

/** `script`: what the engine does, beside this file. `heldFolder`: where it notes the names that it holds. */
export function startEngine(root: string, { script = "sandbox-engine.ts", heldFolder = "" } = {}): KilledEngine {
  const mark = `mark-${randomUUID()}`;
  const engine = spawn(process.execPath, [resolve(import.meta.dirname, script), root, mark, heldFolder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  engine.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return {
    running: () => processesWith(mark),
    async said(word) {
      while (!text.includes(word)) await once(engine.stdout, "data");
    },
    async kill() {
      engine.kill("SIGKILL");
      await once(engine, "exit");
      const untilMs = performance.now() + GONE_WITHIN_MS;
      for (;;) {
        const left = processesWith(mark);
        if (left.length === 0 || performance.now() >= untilMs) return left;
        await new Promise((done) => setTimeout(done, LOOK_PAUSE_MS));
      }
    },
  };
}

/** From "begins" to the first line of the command it takes some ten milliseconds. */
const BEGIN_MS = 20;

/** Kills that many engines, one after the other, spread over the time in which a command begins; those that left something. */
export async function killWhileBeginning(root: string, kills: number): Promise<number[][]> {
  const left: number[][] = [];
  for (let kill = 0; kill < kills; kill++) {
    const engine = startEngine(root);
    await engine.said("begins");
    // Timers are too coarse for this.
    const untilMs = performance.now() + (kill * BEGIN_MS) / kills;
    while (performance.now() < untilMs);
    const found = await engine.kill();
    if (found.length > 0) left.push(found);
  }
  return left;
}
