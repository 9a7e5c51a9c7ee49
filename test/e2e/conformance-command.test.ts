/** `harness conformance` as people run it, and a daemon that is killed under it. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSystemClock } from "#base";
import { httpTarget, type RequirementId, runConformance, type Target } from "#conformance";
import { type CliHome, createCliHome, finish, runCli } from "../fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "../fakes/daemon-run.ts";
import { launcher } from "../fakes/launcher.ts";

const MODEL = ["-m", "scripted:conformance", "--sandbox", "off"];

interface Daemon {
  readonly socketPath: string;
  readonly tokenFile: string;
  child: ChildProcessWithoutNullStreams;
}

async function startDaemon(home: CliHome): Promise<Daemon> {
  const { socket: socketPath, tokenFile, flags } = daemonPlace(home);
  rmSync(tokenFile, { force: true });
  const { child } = await startDaemonRun(home, ...flags, ...MODEL);
  expect(existsSync(tokenFile)).toBe(true);
  return { socketPath, tokenFile, child };
}

test("what a kill leaves is mended by the next start, over both wires", { timeout: 120_000 }, async () => {
  const home = createCliHome();
  let daemon = await startDaemon(home);
  const { socketPath, tokenFile } = daemon;
  const clock = createSystemClock();
  const restart = async (): Promise<void> => {
    const gone = finish(daemon.child);
    daemon.child.kill("SIGKILL");
    await gone;
    daemon = await startDaemon(home);
  };
  const tokens = {
    // A run of the daemon has a token of its own.
    get human() {
      return readFileSync(tokenFile, "utf8").trim();
    },
  };
  const place = { kind: "unix", path: socketPath } as const;
  const targets = (["rest", "ws"] as const).map(
    (wire): Target => ({ ...httpTarget(wire, { place, clock, waitMs: 15_000, tokens }), restart }),
  );
  const wanted: readonly RequirementId[] = ["stream:restart", "stream:cut-off", "turn:queue-restart"];
  const { findings } = await runConformance({ targets, clock, only: (id) => wanted.includes(id) });
  const verdicts = findings.map(({ requirement, wire, verdict, detail }) => ({ requirement, wire, verdict, detail }));
  expect(verdicts).toEqual(
    (["rest", "ws"] as const).flatMap((wire) =>
      wanted.map((requirement) => ({ requirement, wire, verdict: "pass", detail: undefined })),
    ),
  );
});

test("prints findings as JSON and JUnit, with the exit code of the whole", { timeout: 120_000 }, async () => {
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
  ]);
  const xml = readFileSync(join(home.workspace, "out/report.xml"), "utf8");
  expect(xml).toContain('<testsuite name="rest" tests="5" failures="0" errors="0" skipped="1">');
  expect(good.out).not.toContain(readFileSync(tokenFile, "utf8").trim());
});

test("says why nothing could be tried", { timeout: 60_000 }, async () => {
  const home = createCliHome();
  home.put("token", "t");
  const other = home.put("other.yaml", "name: other\nrules: []\notherwise: [{ text: Something else. }]\n");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], "name what to try"],
    [["--against", "ftp://somewhere"], "write http://HOST:PORT, unix:///PATH or stdio://COMMAND"],
    [["--against", "unix:///nowhere/c.sock"], "the target cannot be reached"],
    [["--against", "stdio://exit 3"], "the target cannot be reached"],
    [["--against", "stdio://true", "--only", "nothing"], "there is no such requirement"],
    [["--against", "unix:///nowhere", "--token-file", "none"], "no such file"],
    [["--against", "http://192.0.2.1:80", "--token-file", "token"], "a token goes to this machine only"],
    [["--against", "unix:///nowhere", "--wire", "pigeon"], "Expected one of rest, ws, plain"],
  ];
  for (const [args, message] of cases) {
    const result = await runCli(home, ["conformance", "--wait", "5", ...args]);
    expect({ args, ...result }).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  }
  const harness = `"${process.execPath}" "${launcher}"`;
  const played = `stdio://${harness} rpc --cwd . -m scripted:${other}`;
  const result = await runCli(home, ["conformance", "--wait", "15", "--against", played]);
  expect(result).toMatchObject({ code: 2, err: expect.stringContaining('it said "Something else."') });
});
