/** `harness eval` in a real process: what somebody at the terminal sees, and what Ctrl-C leaves. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { type CliHome, createCliHome, openCliTerminal } from "../fakes/cli-process.ts";

function put(home: CliHome, name: string, reply: string): void {
  const file = join(home.workspace, "evals/testdata", `${name}.yaml`);
  mkdirSync(dirname(file), { recursive: true });
  const scenario = `  scenario:\n    name: ${name}\n    rules: []\n    otherwise:\n      - ${reply}\n`;
  writeFileSync(file, `name: ${name}\nsetup:\n${scenario}turns: [{ content: Begin. }]\ngrade: [{ type: no_errors }]\n`);
}

test("a terminal shows what is done and what runs; Ctrl-C stops it and reports", async () => {
  const home = createCliHome();
  put(home, "quick", "text: Done.");
  put(home, "slow", "pause_ms: 600000");
  await ackProject(home);
  const terminal = openCliTerminal(home, ["eval", "--jobs", "1"]);
  await terminal.see("0 of 2 · quick");
  await terminal.see("quick · scripted · 1 turn");
  await terminal.see("1 of 2 · slow");
  terminal.type("\u0003");
  await terminal.see("Stopping; finished cases are reported.");
  await terminal.see("not run");
  await terminal.see("ended early: interrupted");
  await terminal.see("1 passed, 1 not run of 2");
  expect(await terminal.exit).toBe(130);
});
