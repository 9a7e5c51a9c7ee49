/** Plans, queues of others, an editor of one's own and `/clear` in the full interface of the real program, in a real terminal (tmux). */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";
import { hasTmux, openTmux } from "../fakes/tmux.ts";

const SCENARIO = `
name: tmux-work
rules:
  - when: { tool: plan }
    reply: [{ text: "I read what you said about the plan." }]
  - when: { input: "/plan it/" }
    reply: [{ tool: plan, args: { plan: "1. Look around\\n2. Change it" } }]
  - when: { input: "/run it/" }
    reply: [{ tool: exec, args: { command: "touch begun; sleep 100" } }]
  - when: { input: "/wait/" }
    reply: [{ text: "I wait." }, { pause_ms: 60000 }, { text: "Nobody stopped me." }]
  - when: { input: "/slowly/" }
    reply: [{ text: "One." }, { pause_ms: 1500 }, { text: " Two." }, { pause_ms: 1500 }, { text: " Three." }]
otherwise: [{ text: "Nothing to do." }]
`;
/** Waits until the file \`go\` is there, whatever keys are pressed, then adds to the text. */
const EDITOR = `#!/bin/bash
trap 'echo interrupted' INT
echo EDITOR-OPEN
until [ -e go ]; do sleep 0.05; done
printf '%s' "\${1:+ and more}" >> "$1"
`;
/** Keys that come sooner after a question do not count. */
const SETTLED_MS = 600;

async function attached() {
  const home = createCliHome({ EDITOR: "./editor.sh" });
  home.put("tmux.yaml", SCENARIO);
  chmodSync(home.put("editor.sh", EDITOR), 0o755);
  const daemon = await startDaemonRun(home, "--model", "scripted:./tmux.yaml", "--sandbox", "off");
  const tmux = openTmux(home);
  const pane = tmux.pane();
  pane.type("harness attach --new\n");
  await pane.sees(/sess_/);
  const ask = async (text: string): Promise<void> => {
    pane.type(text);
    await pane.sees(text);
    pane.press("Enter");
  };
  return { home, daemon, tmux, pane, ask };
}

describe.skipIf(!hasTmux)("the work of a session in tmux", { timeout: 240_000 }, () => {
  test("a plan is edited in an editor of one's own, approved and pinned; a second one is rejected with a reason", async () => {
    const { home, pane, ask } = await attached();
    await ask("/plan");
    await pane.sees(/mode: ask → plan/);
    await ask("plan it");
    await pane.sees(/Approve this plan\?[\s\S]*│ 2\. Change it[\s\S]*\[e\] edit and approve/);
    await after(SETTLED_MS);
    pane.press("e");
    await pane.sees(/^2\. Change it$/m);
    pane.press("C-g");
    await pane.sees("EDITOR-OPEN");
    home.put("go", "");
    await pane.sees(/^2\. Change it and more$/m);
    pane.press("Enter");
    await pane.sees(/: plan agreed: Look around {2}Alt-L shows it/);
    await expect.poll(() => pane.all()).toMatch(/mode: plan → ask[\s\S]*I read what you said/);
    pane.press("M-l");
    await pane.sees(/Plan ─+ agreed[\s\S]*│ 2\. Change it and more/);
    pane.press("x");
    await expect.poll(() => pane.all()).toContain("The plan is done.");
    expect(pane.screen()).not.toContain("plan agreed");
    await ask("plan it again");
    await pane.sees("Approve this plan?");
    await after(SETTLED_MS);
    pane.press("w");
    await pane.sees("What is wrong with it?");
    pane.type("too short");
    pane.press("Enter");
    await expect.poll(() => pane.all()).toMatch(/They said: too short/);
  });

  test("nothing is drawn over an editor of one's own, Ctrl-C there ends nothing, and the screen is right afterwards", async () => {
    const { home, pane, ask } = await attached();
    await ask("slowly");
    await pane.sees("One.");
    pane.type("a draft");
    await pane.sees(/^a draft$/m);
    pane.press("C-g");
    await pane.sees("EDITOR-OPEN");
    const { length } = pane.all();
    pane.resize(90, 28);
    pane.press("C-c");
    await pane.sees("interrupted");
    // Long enough for the turn to end.
    await after(4_000);
    expect(pane.screen()).not.toMatch(/Two|Three|sess_/);
    expect(pane.all().length - length).toBeLessThan(200);
    home.put("go", "");
    await pane.sees(/One\.[\s\S]*Two\.[\s\S]*Three\.[\s\S]*1 step[\s\S]*^a draft and more$/m);
    pane.press("Enter");
    await pane.sees(/› a draft and more[\s\S]*Nothing to do\./);
  });

  test("a second terminal shows what the first one has queued, and takes it back; so does one after a restart", async () => {
    const { daemon, tmux, pane, ask } = await attached();
    await ask("wait");
    await pane.sees("I wait.");
    await ask("wait again");
    await ask("queued here");
    await pane.sees(": queued: queued here");
    pane.press("Escape");
    await pane.sees(/› wait again[\s\S]*I wait\./);
    const id = /sess_\w+/.exec(pane.screen())?.[0] ?? "";
    const other = tmux.pane();
    other.type(`harness attach ${id}\n`);
    await other.sees(/: queued: queued here {2}Alt-↑ edits/);
    other.press("M-Up");
    await other.sees(/^queued here$/m);
    await expect.poll(() => pane.screen()).not.toContain(": queued");
    other.press("Enter");
    await pane.sees(": queued: queued here");
    daemon.child.kill("SIGKILL");
    await expect.poll(() => pane.all(), { timeout: 90_000 }).toMatch(/Reconnected/);
  });

  test("a command that a kill of the daemon cuts off is a question, and the session goes on behind its answer", async () => {
    const { home, daemon, pane, ask } = await attached();
    await ask("run it");
    await pane.sees("wants to run");
    await after(SETTLED_MS);
    pane.press("y");
    await expect.poll(() => existsSync(join(home.workspace, "begun"))).toBe(true);
    daemon.child.kill("SIGKILL");
    await expect.poll(() => pane.all(), { timeout: 90_000 }).toMatch(/exec was interrupted/);
    await after(SETTLED_MS);
    pane.press("w");
    await pane.sees("How far did it get?");
    pane.type("the file was made");
    pane.press("Enter");
    await expect.poll(() => pane.screen()).not.toContain("was interrupted");
    await ask("hello");
    await expect.poll(() => pane.all()).toMatch(/› hello[\s\S]*Nothing to do\./);
  });

  test("/clear empties the screen and what has scrolled away", async () => {
    const { pane, ask } = await attached();
    for (let round = 0; round < 8; round++) {
      await ask(`hello ${round}`);
      await expect.poll(() => pane.all()).toContain(`› hello ${round}`);
    }
    await expect.poll(() => pane.all().match(/Nothing to do\./g)).toHaveLength(8);
    await ask("/clear");
    await expect.poll(() => pane.all()).not.toMatch(/hello|READY|Nothing/);
    expect(pane.screen()).toMatch(/^\n─+\n\n─+\nsess_/);
    pane.press("C-o");
    await pane.sees(/hello 7/);
  });
});
