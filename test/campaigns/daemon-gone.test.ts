/** Terminals and commands that wait as long as they do for a daemon that does not come back, or says nothing. */
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openCliTerminal } from "../fakes/cli-process.ts";
import { createDaemonHome } from "../fakes/daemon-home.ts";
import { startDaemonRun } from "../fakes/daemon-run.ts";

const ENTER = "\r";
const CTRL_D = "\u0004";

test("a daemon of the foreground that was killed and that nobody starts again goes on in the background, with its flags", async () => {
  const home = createDaemonHome();
  home.put("idle.yaml", "name: idle\nrules:\n  - when: { input: /./ }\n    reply: [{ text: Nothing to do. }]\n");
  const { child: daemon } = await startDaemonRun(
    home,
    "--listen",
    `unix:${home.socket}`,
    "--model",
    "scripted:./idle.yaml",
    "--sandbox",
    "off",
  );
  const terminal = openCliTerminal(home, ["attach", "--plain", "--new"]);
  await terminal.see("› ");
  daemon.kill("SIGKILL");
  await terminal.see("The daemon was killed; restarting it.");
  await terminal.see("Reconnected; nothing was missed.");
  terminal.type(`one${ENTER}`);
  await terminal.see("Nothing to do.");
  expect(await home.status()).toMatchObject({
    background: true,
    health: { subsystems: { providers: { model: "scripted:./idle.yaml" }, sandbox: { mode: "off" } } },
  });
  terminal.type(CTRL_D);
  expect(await terminal.exit).toBe(0);
});

test("one that was stopped, or is at an address that was named, is not started; what to do is said", async () => {
  const home = createDaemonHome();
  const gone = async (connect: readonly string[], end: (pid: number) => unknown, advice: string) => {
    const pid = await home.start();
    const terminal = openCliTerminal(home, ["attach", "--plain", "--new", ...connect]);
    await terminal.see("› ");
    await end(pid);
    await terminal.see("The connection was lost; reconnecting.");
    terminal.type(`still there?${ENTER}`);
    const shown = await terminal.see(advice);
    expect(shown).toContain("Not sent: still there?");
    expect(await terminal.exit).toBe(1);
    expect(await home.status()).toMatchObject({ state: "none" });
  };
  await gone(
    [],
    () => home.daemon("stop"),
    "Start it with harness daemon start, then continue with harness attach sess_",
  );
  const named = `unix:${home.socket}`;
  await gone(["--connect", named], (pid) => process.kill(pid, "SIGKILL"), `--connect ${named}`);
});

test("a socket that is answered by nobody, or by somebody who says nothing, is in nobody's way", async () => {
  const home = createDaemonHome();
  mkdirSync(dirname(home.socket), { recursive: true, mode: 0o700 });
  const mute = createServer(() => undefined);
  await new Promise<void>((resolve) => void mute.listen(home.socket, resolve));
  onTestFinished(() => void mute.close());
  await home.start();
  expect(await home.status()).toMatchObject({ state: "running" });
});
