/** A token is confirmed on a real terminal. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome, openCliTerminal } from "../fakes/cli-process.ts";

const SESSION = `sess_${"0".repeat(26)}`;

test("the code that the terminal shows makes the token; another process can use it", async () => {
  const home = createCliHome();
  const terminal = openCliTerminal(home, ["token", "mint", "--session", SESSION, "--commands", "SendInput"]);
  const shown = await terminal.see("code: ");
  const code = /type (\d{6}) within/.exec(shown)?.[1] ?? "";
  terminal.type("not it\r");
  await terminal.see("ConfirmationFailed");
  await terminal.see("code: ");
  terminal.type(`${code}\r`);
  expect(await terminal.exit).toBe(0);
  const token = /hat1\.[\w-]+\.[\w-]+/.exec(await terminal.see("hat1."))?.[0] ?? "";
  const checked = await callCli({ ...home, env: { ...home.env, HARNESS_TOKEN: token } }, ["token", "check"]);
  expect(checked).toMatchObject({ code: 0, out: expect.stringContaining(`agent, SendInput in ${SESSION}`) });
});

test("three wrong codes make nothing", async () => {
  const home = createCliHome();
  const terminal = openCliTerminal(home, ["token", "mint", "--session", SESSION]);
  for (let i = 0; i < 3; i++) {
    await terminal.see("code: ");
    terminal.type("abc\r");
  }
  await terminal.see("no attempts are left");
  expect(await terminal.exit).toBe(1);
  expect(readdirSync(join(home.workspace, "..")).includes(".local")).toBe(false);
});
