/** A wrong token in the environment, in a file or from a daemon that is gone does not keep the owner out of their daemon. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { type CliResult, openCliTerminal } from "../fakes/cli-process.ts";
import { createDaemonHome, type DaemonHome } from "../fakes/daemon-home.ts";

/** There is none of that name: whoever is told so has been let in. */
const NOBODY = "sess_00000000000000000000000000";

function attach(home: DaemonHome, env: Readonly<Record<string, string>>, ...flags: string[]): Promise<CliResult> {
  return callCli({ ...home, env: { ...home.env, ...env } }, ["attach", NOBODY, "--json", ...flags]);
}

test("a stale HARNESS_TOKEN, a stale file and the token of a dead daemon are told once and passed over", async () => {
  const home = createDaemonHome();
  const killed = await home.start();
  const dead = readFileSync(home.tokenFile, "utf8").trim();
  process.kill(killed, "SIGKILL");
  await home.start();
  const file = join(home.workspace, "old.token");
  writeFileSync(file, "hat1.nothing.nothing\n", { mode: 0o600 });
  const refused = (name: string, reason: string): string =>
    `The token in ${name} cannot be used here (${reason}): trying`;

  const revoked = await attach(home, { HARNESS_TOKEN: dead });
  expect(revoked.err).toMatch(/SessionNotFound/);
  expect(revoked.err.split(refused("HARNESS_TOKEN", "TokenRevoked")).length).toBe(2);

  const both = await attach(home, { HARNESS_TOKEN: "garbage" }, "--token-file", "old.token");
  expect(both.err).toMatch(/SessionNotFound/);
  expect(both.err).toContain(refused("HARNESS_TOKEN", "TokenInvalid"));
  expect(both.err).toContain(refused(file, "TokenInvalid"));
  expect(both.err).not.toContain("garbage");
});

test("guesses up to the limit lock out a wrong source, and not the owner", async () => {
  const home = createDaemonHome();
  await home.start();
  const limited = async (): Promise<boolean> =>
    (await attach(home, { HARNESS_TOKEN: "garbage" }, "--connect", `unix:${home.socket}`)).err.includes(
      "TooManyFailures",
    );
  let tries = 0;
  while (!(await limited())) expect(++tries).toBeLessThan(30);
  const { err } = await attach(home, { HARNESS_TOKEN: "garbage" });
  expect(err).toContain("HARNESS_TOKEN cannot be used here (TooManyFailures)");
  expect(err).toMatch(/SessionNotFound/);
  expect((await home.status()).health).toMatchObject({ status: "ok" });
});

test("a terminal converses on the daemon, and the one whose token lies elsewhere is found by its claim", async () => {
  const home = createDaemonHome();
  const elsewhere = join(home.workspace, "..", "elsewhere.token");
  await home.start("--token-file", elsewhere);
  writeFileSync(home.tokenFile, "left by a daemon that was killed\n", { mode: 0o600 });
  expect((await attach(home, {})).err).toMatch(/SessionNotFound/);
  const terminal = openCliTerminal({ ...home, env: { ...home.env, HARNESS_TOKEN: "garbage" } }, ["--plain"]);
  await terminal.see("The token in HARNESS_TOKEN cannot be used here");
  await terminal.see("attached on unix:");
  terminal.type("/quit\r");
  expect(await terminal.exit).toBe(0);
});
