/** `harness serve` as a process: what a signal does to the turn that runs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCliHome, finish, startCli } from "../fakes/cli-process.ts";

/** The command of the turn ends when the test says so. */
const SCENARIO = `
name: serve
rules:
  - when: { tool: exec }
    reply: [{ text: "the turn ended" }]
otherwise: [{ tool: exec, args: { command: "touch began; until [ -e go ]; do sleep 0.05; done" } }]
`;

async function startTurn() {
  const home = createCliHome();
  const scenario = home.put("scenario.yaml", SCENARIO);
  const flags = ["--model", `scripted:${scenario}`, "--allow", "Bash(*)", "--sandbox", "off"];
  const child = startCli(home, ["serve", "--source", "stdin", ...flags]);
  const ended = finish(child);
  let said = "";
  child.stderr.on("data", (chunk: string) => {
    said += chunk;
  });
  const saysIt = (text: string) => expect.poll(() => said, { timeout: 60_000 }).toContain(text);
  child.stdin.write("work\nnever begun\n");
  await expect.poll(() => existsSync(join(home.workspace, "began")), { timeout: 60_000 }).toBe(true);
  return { home, child, ended, saysIt };
}

test("SIGTERM lets the running turn end and begins no other", async () => {
  const { home, child, ended, saysIt } = await startTurn();
  child.kill("SIGTERM");
  await saysIt("stopping");
  home.put("go", "");
  const { code, out } = await ended;
  expect({ code, answers: out.match(/the turn ended/g)?.length }).toEqual({ code: 0, answers: 1 });
});

test("a second SIGTERM cancels it", async () => {
  const { child, ended, saysIt } = await startTurn();
  child.kill("SIGTERM");
  await saysIt("stopping");
  child.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0, out: expect.not.stringContaining("the turn ended") });
});

test("Ctrl-C cancels it at once", async () => {
  const { child, ended } = await startTurn();
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 0, out: expect.not.stringContaining("the turn ended") });
});
