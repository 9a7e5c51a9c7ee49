/** The full interface when its program fails or is told to end: the terminal is as it was, and the session goes on. */
import { describe, expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";
import { hasTmux, openTmux, type Pane } from "../fakes/tmux.ts";

const SCENARIO = "name: crash\nrules: []\notherwise: [{ text: 'Nothing to do.' }]\n";
/** Fails the program from outside, as a mistake in it would. */
const FAULTS = `
process.on("SIGUSR2", () => setImmediate(() => { throw new Error("a fault in the interface"); }));
process.on("SIGPWR", () => void Promise.reject(new Error("a rejection in the interface")));
`;
const TERMINAL = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag}";
const AS_IT_WAS = "0 1 0 0";

async function attached(beforeSignal: (pane: Pane) => Promise<unknown> = async () => undefined) {
  const home = createCliHome();
  home.put("crash.yaml", SCENARIO);
  const faults = home.put("faults.mjs", FAULTS);
  await startDaemonRun(home, "--model", "scripted:./crash.yaml", "--sandbox", "off");
  const pane = openTmux(home).pane();
  pane.type(`export HARNESS="\${HARNESS%% *} --import ${faults} \${HARNESS#* }"; stty -g > before; clear\n`);
  pane.type("harness attach --new; echo code-$?\n");
  await pane.sees(/sess_/);
  pane.type("hello");
  await pane.sees("hello");
  pane.press("Enter");
  await pane.sees("Nothing to do.");
  await beforeSignal(pane);
  /** The terminal has its modes and its settings, and the shell works. */
  const isRestored = async (): Promise<void> => {
    expect(pane.format(TERMINAL)).toBe(AS_IT_WAS);
    pane.type("stty -g | cmp - before && echo same-$((40+2))\n");
    await pane.sees("same-42");
  };
  return { pane, isRestored };
}

describe.skipIf(!hasTmux)("the interface fails", { timeout: 240_000 }, () => {
  test.each([
    ["SIGUSR2", "a fault in the interface"],
    ["SIGPWR", "a rejection in the interface"],
  ] as const)("on %s the terminal is restored, and it says how to come back", async (name, what) => {
    const { pane, isRestored } = await attached();
    pane.signal(name);
    await pane.sees(/InternalError[\s\S]*The session continues; to come back: harness attach sess_\w+\n+code-1/);
    expect(pane.screen()).toContain(what);
    await isRestored();
    pane.type("harness attach --last\n");
    await pane.sees(/Nothing to do\.[\s\S]*sess_/);
  });

  test("the full screen is left before anything is said", async () => {
    const { pane, isRestored } = await attached(async (shown) => {
      shown.press("C-o");
      await shown.sees("Esc");
    });
    pane.signal("SIGUSR2");
    await pane.sees(/InternalError[\s\S]*code-1/);
    await isRestored();
  });

  test("on SIGTERM the terminal is restored, and the session continues", async () => {
    const { pane, isRestored } = await attached();
    pane.signal("SIGTERM");
    await pane.sees(/Detached\. The session continues; to come back: harness attach sess_\w+\n+code-143/);
    await isRestored();
  });
});
