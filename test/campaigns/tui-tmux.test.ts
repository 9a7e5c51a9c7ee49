/** The full interface of the real program, attached to a daemon, in a real terminal (tmux). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createSeededRandom } from "../../bench/seeded-random.ts";
import { createCliHome } from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";
import { hasTmux, openTmux } from "../fakes/tmux.ts";

const SCENARIO = `
name: tmux
rules:
  - when: { tool: exec }
    reply: [{ text: "The command has ended." }]
  - when: { tool: fs.edit }
    reply: [{ text: "The edit has ended." }]
  - when: { input: "/^make (.+)/" }
    reply: [{ tool: exec, args: { command: "touch {{input.1}}" } }]
  - when: { input: "/edit/" }
    reply: [{ tool: fs.edit, args: { path: a.txt, old_text: "one\\nsame\\ntwo", new_text: "ONE\\nsame\\nTWO" } }]
  - when: { input: "/wait/" }
    reply: [{ text: "I wait." }, { pause_ms: 60000 }, { text: "Nobody stopped me." }]
otherwise: [{ text: "Nothing to do." }]
`;
/** Keys that come sooner after a question do not count. */
const SETTLED_MS = 600;

async function attached() {
  const home = createCliHome();
  home.put("tmux.yaml", SCENARIO);
  home.put("a.txt", "one\nsame\ntwo\n");
  const daemon = await startDaemonRun(home, "--model", "scripted:./tmux.yaml", "--sandbox", "off");
  const pane = openTmux(home).pane();
  pane.type("harness attach --new\n");
  await pane.sees(/sess_/);
  const made = (name: string): boolean => existsSync(join(home.workspace, name));
  const ask = async (text: string): Promise<void> => {
    pane.type(text);
    await pane.sees(text);
    pane.press("Enter");
  };
  const answer = async (key: string): Promise<void> => {
    await pane.sees("wants to run");
    await after(SETTLED_MS);
    pane.press(key);
  };
  return { home, daemon, pane, made, ask, answer };
}

describe.skipIf(!hasTmux)("the full interface in tmux", { timeout: 240_000 }, () => {
  test("a turn with each of the four answers", async () => {
    const { pane, made, ask, answer } = await attached();
    await ask("make once");
    await pane.sees(/touch once[\s\S]*why:[\s\S]*\[y\] allow once/);
    await answer("y");
    await pane.sees("The command has ended.");
    expect(made("once")).toBe(true);
    await ask("make denied");
    await answer("n");
    await expect.poll(() => pane.all(), { timeout: 60_000 }).toMatch(/✗ \w+ touch denied/);
    expect(made("denied")).toBe(false);
    await ask("make pattern");
    await answer("s");
    await expect.poll(() => made("pattern"), { timeout: 60_000 }).toBe(true);
    await ask("make tool");
    const shown = await pane.sees(/touch tool|✓ \w+ touch tool/);
    if (shown.includes("wants to run")) await answer("t");
    await expect.poll(() => made("tool"), { timeout: 60_000 }).toBe(true);
  });

  test("an edit is reviewed by hunk, and only the accepted one is made", async () => {
    const { home, pane, ask, answer } = await attached();
    await ask("edit");
    await answer("r");
    await pane.sees(/hunk 1 · not decided[\s\S]*Enter answer/);
    pane.press("a");
    await pane.sees("hunk 1 · accepted");
    pane.press("d");
    await pane.sees("hunk 2 · denied");
    pane.press("Enter");
    await pane.sees("The edit has ended.");
    expect(readFileSync(join(home.workspace, "a.txt"), "utf8")).toBe("ONE\nsame\ntwo\n");
  });

  test("a review stands in the whole file, and a resize while it is open leaves the scrollback alone", async () => {
    const { home, pane, ask, answer } = await attached();
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
    home.put("a.txt", [...lines, "one", "same", "two", ""].join("\n"));
    for (const name of ["first", "second", "third", "fourth"]) await ask(`nothing ${name}`);
    pane.resize(80, 24);
    await ask("edit");
    await answer("r");
    await pane.sees(/… 27 unchanged lines[\s\S]*31 - one\n 31 \+ ONE\n 32 {3}same/);
    pane.resize(120, 40);
    await pane.sees(/31 - one\s+│\s+31 \+ ONE/);
    pane.press("v");
    await pane.sees(/ {2}line 20/);
    pane.press("a");
    await pane.sees("hunk 1 · accepted");
    pane.press("Escape");
    await pane.sees(/wants to run/);
    expect(pane.all()).not.toMatch(/hunk 1|line 20/);
    await after(SETTLED_MS);
    pane.press("n");
    await pane.sees(/✗ Edit a\.txt +denied/);
  });

  test("Esc cancels; Ctrl-Z and fg bring the same screen back; the shell is as it was after Ctrl-D", async () => {
    const { pane, ask } = await attached();
    await ask("wait");
    await pane.sees("I wait.");
    pane.press("Escape");
    await pane.sees(/Cancelled/);
    pane.type("a draft");
    await pane.sees("a draft");
    pane.press("C-z");
    await pane.sees("Stopped");
    pane.press("fg", "Enter");
    await pane.sees(/a draft[\s\S]*sess_/);
    pane.press("C-u");
    pane.press("C-d");
    pane.press("echo", "Space", "still-$((40+2))", "Enter");
    await pane.sees("still-42");
  });

  test("a daemon that is killed comes back, and the conversation continues", async () => {
    const { daemon, pane, ask } = await attached();
    await ask("hello");
    await pane.sees("Nothing to do.");
    daemon.child.kill("SIGKILL");
    await expect.poll(() => pane.all(), { timeout: 60_000 }).toMatch(/connection was lost/);
    await expect.poll(() => pane.all(), { timeout: 90_000 }).toMatch(/Reconnected/);
  });

  test("a storm of sizes leaves the conversation whole and the terminal usable", async () => {
    const { pane, ask } = await attached();
    const random = createSeededRandom(7);
    for (let round = 0; round < 40; round++) {
      pane.resize(30 + Math.floor(random() * 120), 8 + Math.floor(random() * 40));
      if (round % 4 === 0) pane.press(["C-o", "Escape", "x", "BSpace"][Math.floor(random() * 4)] ?? "x");
    }
    pane.resize(100, 30);
    pane.press("Escape");
    await after(SETTLED_MS);
    pane.press("C-u");
    await pane.sees(/sess_/);
    await ask("after the storm");
    await pane.sees("Nothing to do.");
  });
});
