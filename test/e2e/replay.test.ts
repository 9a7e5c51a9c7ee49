/** `harness run --record` and `--replay`, as users start them. */
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome } from "../fakes/cli-process.ts";
import { launcher } from "../fakes/launcher.ts";

const TIMEOUT_MS = 120_000;
const hasStrace = spawnSync("strace", ["-V"]).status === 0;

function recordedHome() {
  const home = createCliHome();
  home.put("desk/a.txt", "A\n");
  home.put(
    "model.yaml",
    `name: x
rules:
  - when: { step: 1 }
    reply: [{ tool: fs.read, args: { path: a.txt } }]
  - when: { step: 2 }
    reply: [{ tool: exec, args: { command: "cat a.txt > b.txt; pwd" } }]
otherwise: [{ text: done }]
`,
  );
  cpSync(join(home.workspace, "desk"), join(home.workspace, "before"), { recursive: true });
  const flags = [
    "run",
    "-C",
    "desk",
    "-m",
    "scripted:./model.yaml",
    "--auto-approve",
    "--record",
    "x.cassette",
    "--json",
  ];
  return { home, record: () => callCli(home, [...flags, "go"]) };
}

test("a replay prints the recorded events and makes no network system call", async () => {
  const { home, record } = recordedHome();
  const recorded = await record();
  expect(recorded).toMatchObject({ code: 0 });
  const replay = ["run", "-C", "before", "--auto-approve", "--replay", "x.cassette"];
  expect(await callCli(home, [...replay, "--json"])).toMatchObject({ code: 0, out: recorded.out });
  expect(readFileSync(join(home.workspace, "before/b.txt"), "utf8")).toBe("A\n");
  expect(await callCli(home, [...replay, "go"])).toMatchObject({ code: 0, out: "done\n" });
  if (!hasStrace) return;
  const [trace, printed] = [join(home.workspace, "trace"), join(home.workspace, "printed")];
  const output = openSync(printed, "w");
  // Node asks what its standard streams are when they are sockets, so they are files.
  const strace = ["-f", "-e", "trace=%network,execve", "-o", trace, process.execPath, launcher, ...replay, "--json"];
  spawnSync("strace", strace, {
    cwd: home.workspace,
    env: home.env,
    stdio: ["ignore", output, output],
    timeout: TIMEOUT_MS,
  });
  closeSync(output);
  expect(readFileSync(printed, "utf8")).toBe(recorded.out);
  const calls = readFileSync(trace, "utf8").match(/^\d+ +\w+\(.*/gm);
  expect(calls).toEqual([expect.stringContaining("execve(")]);
});

test("what differs ends with exit code 1, what cannot be with 2", async () => {
  const { home, record } = recordedHome();
  await record();
  const replay = (...flags: string[]) => callCli(home, ["run", "-C", "before", "--replay", "x.cassette", ...flags]);
  expect(await replay("--auto-approve", "stop")).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /CassetteMismatch: .*x\.cassette:\d+.*SendInput differs at content\[0\]\.text: recorded "go", now "stop"/,
    ),
  });
  const denied = await replay("--json");
  expect(denied).toMatchObject({ code: 1, out: expect.stringContaining('"reason":"CassetteMismatch"') });
  home.put(
    "x.cassette",
    readFileSync(join(home.workspace, "x.cassette"), "utf8").replace('"cassette": 1', '"cassette": 9'),
  );
  expect(await replay()).toMatchObject({
    code: 2,
    err: expect.stringMatching(/CassetteInvalid: .*x\.cassette:1: it has version 9/),
  });
  expect(await callCli(home, ["run", "--replay", "nope.cassette"])).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^✗ CassetteInvalid: The cassette cannot be played: .*: \S+nope\.cassette does not exist\n$/,
    ),
  });
  expect(await replay("--record", "y.cassette")).toMatchObject({
    code: 2,
    err: expect.stringContaining("cannot be combined"),
  });
  expect(await replay("--resume", "sess_x")).toMatchObject({
    code: 2,
    err: expect.stringContaining("remove --resume"),
  });
  const nowhere = await callCli(home, ["run", "-m", "scripted:./model.yaml", "--record", "no/where.cassette", "go"]);
  expect(nowhere).toMatchObject({ code: 1, out: "", err: expect.stringContaining("CassetteNotWritten") });
  expect(existsSync(join(home.workspace, "y.cassette"))).toBe(false);
});

test("a cassette holds no key and nothing that a pattern of the user calls a secret", async () => {
  const home = createCliHome({ ZAI_API_KEY: "correct-horse-41" });
  home.put("badge.txt", "badge B-120394 key correct-horse-41\n");
  home.put("config.toml", '[redaction]\npatterns = [{ kind = "badge", pattern = "B-[0-9]{6}" }]\n');
  home.put(
    "model.yaml",
    `name: x
rules:
  - when: { step: 1 }
    reply: [{ tool: exec, args: { command: "cat badge.txt" } }]
otherwise: [{ text: done }]
`,
  );
  const flags = ["run", "-c", "config.toml", "-m", "scripted:./model.yaml", "--auto-approve", "--record", "x.cassette"];
  expect(await callCli(home, [...flags, "B-120395 correct-horse-41"])).toMatchObject({ code: 0 });
  const cassette = readFileSync(join(home.workspace, "x.cassette"), "utf8");
  expect(cassette).toContain("«redacted:badge»");
  expect(cassette).toContain("«redacted:known-secret»");
  expect(cassette).not.toMatch(/12039|horse/);
});

test("waits that are over before what they wait for are replayed at their time", async () => {
  const home = createCliHome();
  home.put("desk/harness.md", "---\nmeta: { enabled: true }\n---\nYou hurry.\n");
  home.put("desk/.harness/agents/slow.md", "---\ndescription: Slow.\ntools: [exec]\n---\nYou are slow.\n");
  home.put(
    "desk/.harness/tools/hurry.md",
    `---
script: |
  def run(args):
      return meta.call_tool("exec", {"command": "sleep 5"}, timeout_seconds=0.1)
---
Is cut short.
`,
  );
  home.put(
    "model.yaml",
    `name: slow
rules:
  - when: { tool: hurry }
    reply: [{ text: Done. }]
  - when: { tool: task.await }
    reply: [{ tool: hurry }]
  - when: { tool: delegate_async }
    reply: [{ tool: task.await, args: { timeout_ms: 100 } }]
  - when: { input: go }
    reply: [{ tool: delegate_async, args: { agent: slow, task: nap } }]
  - when: { input: nap }
    reply: [{ tool: exec, args: { command: sleep 5 } }]
`,
  );
  cpSync(join(home.workspace, "desk"), join(home.workspace, "before"), { recursive: true });
  for (const folder of ["desk", "before"]) await ackProject({ ...home, workspace: join(home.workspace, folder) });
  const flags = ["--auto-approve", "--json"];
  const model = ["-m", "scripted:./model.yaml", "--record", "x.cassette"];
  const recorded = await callCli(home, ["run", "-C", "desk", ...model, ...flags, "go"]);
  expect(recorded.out).toContain('\\"status\\":\\"running\\"');
  expect(recorded.out).toContain('"status":"cancelled"');
  const replayed = await callCli(home, ["run", "-C", "before", "--replay", "x.cassette", ...flags]);
  expect(replayed.err).toBe("");
  expect(replayed.out).toBe(recorded.out);
});
