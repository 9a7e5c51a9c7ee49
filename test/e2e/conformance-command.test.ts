/** `harness conformance` as people run it; `test/campaigns/conformance-command.test.ts` kills a daemon under it and asks for TLS. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, runCli } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";
import { launcher } from "../fakes/launcher.ts";

const MODEL = ["-m", "scripted:conformance", "--sandbox", "off"];

interface Daemon {
  readonly socketPath: string;
  readonly tokenFile: string;
  child: ChildProcessWithoutNullStreams;
  /** What it told a person when it began to listen. */
  readonly said: string;
}

async function startDaemon(home: CliHome, ...more: string[]): Promise<Daemon> {
  const { socket: socketPath, tokenFile, flags } = daemonPlace(home);
  rmSync(tokenFile, { force: true });
  const { child, said } = await startDaemonRun(home, ...flags, ...MODEL, ...more);
  expect(existsSync(tokenFile)).toBe(true);
  return { socketPath, tokenFile, child, said: said() };
}

test("prints findings as JSON and JUnit, with the exit code of the whole", async () => {
  const home = createCliHome();
  const { socketPath, tokenFile } = await startDaemon(home);
  const target = ["conformance", "--against", `unix://${socketPath}`, "--token-file", tokenFile];
  const good = await runCli(home, [
    ...target,
    "--only",
    "auth",
    "--wire",
    "rest",
    "--json",
    "--junit",
    "out/report.xml",
  ]);
  expect(good).toMatchObject({ code: 0, err: "" });
  const report = JSON.parse(good.out) as { conforms: boolean; findings: { requirement: string; verdict: string }[] };
  expect(report.conforms).toBe(true);
  expect(report.findings.map(({ requirement, verdict }) => `${requirement} ${verdict}`)).toEqual([
    "auth:required pass",
    "auth:unknown pass",
    "auth:host pass",
    "auth:origin pass",
    "auth:expired not applicable",
    "auth:expiring not applicable",
    "auth:drain not applicable",
    "auth:drain-end not applicable",
    "auth:tls not applicable",
    "auth:lan-scope not applicable",
  ]);
  expect(report.findings[5]).toMatchObject({ detail: expect.stringContaining("harness token mint --can-mint") });
  const xml = readFileSync(join(home.workspace, "out/report.xml"), "utf8");
  expect(xml).toContain('<testsuite name="rest" tests="10" failures="0" errors="0" skipped="6">');
  expect(good.out).not.toContain(readFileSync(tokenFile, "utf8").trim());
});

test("says why nothing could be tried", async () => {
  const home = createCliHome();
  home.put("token", "t");
  const other = home.put("other.yaml", "name: other\nrules: []\notherwise: [{ text: Something else. }]\n");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], "name the server to test"],
    [["--against", "ftp://somewhere"], "write http://HOST:PORT, unix:///PATH or stdio://COMMAND"],
    [["--against", "unix:///nowhere/c.sock"], "cannot reach the target"],
    [["--against", "stdio://exit 3"], "cannot reach the target"],
    [["--against", "stdio://true", "--only", "nothing"], "there is no such requirement"],
    [["--against", "unix:///nowhere", "--token-file", "none"], "no such file"],
    [["--against", "http://192.0.2.1:80", "--token-file", "token"], "sends a token only to this machine"],
    [["--against", "unix:///nowhere", "--lan", "http://here:1"], "--lan http://here:1: write https://HOST:PORT"],
    [["--against", "unix:///nowhere", "--lan", "https://here:99999"], "write https://HOST:PORT"],
    [["--against", "unix:///nowhere", "--lan-ca", "token"], "name it with --lan"],
    [
      ["--against", "stdio://true", "--token-file", "token", "--lan", "x"],
      "--token-file, --lan are for a server over HTTP",
    ],
    [["--against", "unix:///nowhere", "--wire", "pigeon"], "Expected one of rest, ws, plain"],
  ];
  for (const [args, message] of cases) {
    const result = await callCli(home, ["conformance", "--wait", "5", ...args]);
    expect({ args, ...result }).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  }
  const harness = `"${process.execPath}" "${launcher}"`;
  const played = `stdio://${harness} rpc --cwd . -m scripted:${other}`;
  const result = await runCli(home, ["conformance", "--wait", "15", "--against", played]);
  expect(result).toMatchObject({ code: 2, err: expect.stringContaining('but it answered "Something else."') });
});
