import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { openCliTerminal } from "../fakes/cli-process.ts";
import { createDaemonHome } from "../fakes/daemon-home.ts";
import { testGuide } from "../fakes/guide-test.ts";

testGuide("commands", { minCommands: 2 });

test("the conversation of the page, and Tab after a command is gone", async () => {
  const home = createDaemonHome();
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/guide/commands.md"), "utf8");
  for (const [, file = "", text = ""] of page.matchAll(/^```\w+ title=(\S+)\n([\s\S]*?)^```$/gm)) home.put(file, text);
  home.put(".claude/commands/reword.md", "Reword $1.");
  await ackProject(home);
  const terminal = openCliTerminal(home, ["run", "--plain", "-m", "scripted:./model.yaml"]);
  await terminal.see("/help for help");
  await terminal.see("› ");
  rmSync(join(home.workspace, ".claude/commands/reword.md"));
  terminal.type("/project:review src\r");
  await terminal.see("I found no bugs in src.");
  // Two commands began with this before the turn; now it stands for one.
  await terminal.see("› ");
  terminal.type("/project:re\t");
  await terminal.see("view");
  terminal.type(" src\r");
  await terminal.see("I found no bugs in src.");
  terminal.type("\u0004");
  expect(await terminal.exit).toBe(0);
});
