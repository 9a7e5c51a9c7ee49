/** The full interface on a terminal that takes nothing for a while, as over a connection that hangs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import * as pty from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { launcher } from "../fakes/launcher.ts";
import { openScreenTerminal } from "../fakes/screen-terminal.ts";

const PIECES = 8;
const PARAGRAPHS = 1_000;
const SENTENCE = "A sentence that is long enough to fill most of a row of the terminal, and one more word. ";
/** What a stalled terminal may be owed: one frame, and what the conversation prints for good. */
const MAX_PENDING_BYTES = 4_000_000;
const SCENARIO = `
name: slow
rules:
  - when: { tool: exec }
    reply: [{ text: "The end of it." }]
  - when: { input: go }
    reply: [${`{ text: ${JSON.stringify(`${SENTENCE}\n\n`.repeat(PARAGRAPHS))} }, `.repeat(PIECES)}{ tool: exec, args: { command: "touch done" } }]
otherwise: [{ text: "Nothing to do." }]
`;

async function started() {
  const home = createCliHome();
  home.put("slow.yaml", SCENARIO);
  const args = [
    home.launcher ?? launcher,
    "run",
    "--model",
    "scripted:./slow.yaml",
    "--sandbox",
    "off",
    "--allow",
    "exec",
  ];
  const child = pty.spawn(process.execPath, args, {
    ...{ cwd: home.workspace, cols: 80, rows: 24 },
    env: { ...home.env, TERM: "xterm-256color" },
  });
  let isOver = false;
  const ended = new Promise<number>((done) => {
    child.onExit(({ exitCode }) => {
      isOver = true;
      done(exitCode);
    });
  });
  onTestFinished(() => void (isOver || child.kill("SIGKILL")));
  const terminal = openScreenTerminal(80, 24);
  let bytes = 0;
  child.onData((data) => {
    bytes += data.length;
    terminal.port.write(data);
  });
  await terminal.shows(/sess_/);
  return { home, child, terminal, ended, bytes: () => bytes };
}

test("a terminal that takes nothing stops neither the turn nor the program, and shows the last frame when it is back", async () => {
  const { home, child, terminal, bytes } = await started();
  child.pause();
  child.write("go\r");
  await expect.poll(() => existsSync(join(home.workspace, "done")), { interval: 50 }).toBe(true);
  const residentMb = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
  expect(residentMb()).toBeLessThan(400);
  const before = bytes();
  child.resume();
  await terminal.shows(/The end of it\.[\s\S]*2 steps/);
  expect(bytes() - before).toBeLessThan(MAX_PENDING_BYTES);
  child.write("typed later");
  await terminal.shows(/^typed later$/m);
});

test.each([
  ["nothing", 0],
  ["a little now and then", 18],
])("SIGTERM ends it while the terminal takes %s", async (_, times) => {
  const { home, child, ended } = await started();
  child.pause();
  child.write("go\r");
  await expect.poll(() => existsSync(join(home.workspace, "done")), { interval: 50 }).toBe(true);
  await after(500);
  process.kill(child.pid, "SIGTERM");
  for (let n = 0; n < times; n++) {
    await after(150);
    const once = child.onData(() => {
      child.pause();
      once.dispose();
    });
    child.resume();
  }
  expect(await Promise.race([ended, after(30_000, "still there")])).not.toBe("still there");
});
