/** The input of the full interface in a real terminal (tmux): queue, steer, files, commands of one's own, history, draft. */
import { setTimeout as after } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";
import { hasTmux, openTmux } from "../fakes/tmux.ts";

const SCENARIO = `
name: tmux-input
rules:
  - when: { input: "/wait/" }
    reply: [{ text: "I wait." }, { pause_ms: 60000 }, { text: "Nobody stopped me." }]
otherwise: [{ text: "Nothing to do." }]
`;
/** Drafts are kept every two seconds. */
const DRAFT_KEPT_MS = 4_000;

async function attached() {
  const home = createCliHome();
  home.put("tmux.yaml", SCENARIO);
  home.put("src/parse.ts", "x");
  home.put("secret/.env", "KEY=1");
  await startDaemonRun(home, "--model", "scripted:./tmux.yaml", "--sandbox", "off");
  const tmux = openTmux(home);
  const pane = tmux.pane();
  pane.type("harness attach --new\n");
  await pane.sees(/sess_/);
  const ask = async (text: string): Promise<void> => {
    pane.type(text);
    await pane.sees(text);
    pane.press("Enter");
  };
  return { tmux, pane, ask };
}

describe.skipIf(!hasTmux)("the input of the full interface in tmux", { timeout: 240_000 }, () => {
  test("inputs queue, the last one comes back and is sent to the running turn, the other one runs", async () => {
    const { pane, ask } = await attached();
    await ask("wait");
    await pane.sees("I wait.");
    await ask("second");
    await pane.sees(": queued: second");
    await ask("third");
    await pane.sees(/: queued: third {2}Alt-↑ edits/);
    pane.press("M-Up");
    await pane.sees(/^third$/m);
    pane.press("M-Enter");
    await pane.sees(/^› third$/m);
    pane.press("Escape");
    await pane.sees(/^› second$/m);
    expect(pane.all()).not.toContain("queued: third");
  });

  test("files are found by their letters, and secret ones are not offered", async () => {
    const { pane } = await attached();
    for (const letter of "read @srcp") pane.type(letter);
    await pane.sees(/→ src\/parse\.ts/);
    pane.press("Tab");
    await pane.sees(/^read @src\/parse\.ts$/m);
    pane.press("C-u");
    for (const letter of "read @env") pane.type(letter);
    await after(500);
    expect(pane.screen()).not.toContain(".env");
  });

  test("a command of one's own shows its output and ends on Esc", async () => {
    const { pane, ask } = await attached();
    await ask("!echo sum-$((40+2)); sleep 100");
    await pane.sees("│ sum-42");
    pane.press("Escape");
    await pane.sees(/cancelled/i);
  });

  test("the history finds an input, and a draft is there after a kill", async () => {
    const { tmux, pane, ask } = await attached();
    await ask("something to remember");
    await pane.sees("Nothing to do.");
    pane.press("C-r");
    pane.type("remem");
    await pane.sees(/1 of \d/);
    pane.press("Enter");
    await pane.sees(/^something to remember$/m);
    pane.type(" and unsent");
    await pane.sees("remember and unsent");
    await after(DRAFT_KEPT_MS);
    pane.hangUp();
    const next = tmux.pane();
    next.type("harness attach --new\n");
    await next.sees(/^something to remember and unsent$/m);
  });
});
