import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { EffectError } from "../base/effect-error.ts";
import type { ProcessExit, ProcessSpec } from "../base/ports.ts";
import { createProcesses } from "./processes.ts";
import { createSystemClock } from "./system.ts";

const NEVER = new AbortController().signal;
const clock = createSystemClock();

async function shell(
  workspace: TemporaryWorkspace,
  script: string,
  spec: Partial<ProcessSpec> = {},
  signal: AbortSignal = NEVER,
): Promise<{ exit: Omit<ProcessExit, "durationMs">; stdout: string; stderr: string; durationMs: number }> {
  const output = { stdout: "", stderr: "" };
  const { durationMs, ...exit } = await workspace.ports.processes.run(
    {
      file: "sh",
      args: ["-c", script],
      timeoutMs: 15_000,
      onOutput: (stream, chunk) => {
        output[stream] += chunk.toString("utf8");
      },
      ...spec,
    },
    signal,
  );
  return { exit, durationMs, ...output };
}

/** A program of ours with an open file that whoever started it left behind. */
function withLeftover(script: string): string {
  const program = `
    import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, "processes.ts"))};
    const processes = createProcesses({ root: process.cwd(), env: process.env });
    const onOutput = (_, chunk) => process.stdout.write(chunk);
    await processes.run({ file: "bash", args: ["-c", ${JSON.stringify(script)}], timeoutMs: 10000, onOutput }, new AbortController().signal);`;
  const leftover = openSync("/etc/hostname", "r");
  const stdio = [..."ip", "inherit", ...Array.from({ length: 37 }, () => null), leftover].map((entry) =>
    entry === "i" ? "ignore" : entry === "p" ? "pipe" : entry,
  );
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    stdio: stdio as never,
    encoding: "utf8",
  });
  closeSync(leftover);
  return stdout;
}

test.runIf(process.platform === "linux")("no child gets an open file that came from outside", () => {
  expect(withLeftover("cat <&40; readlink /proc/self/fd/40")).toBe("/dev/null\n");
});

/** Runs and zombies told apart: in a container nobody may reap what was orphaned. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** The process ids that a script wrote to its output, one a line. */
function pidsIn(output: string): number[] {
  const pids = output.trim().split("\n").map(Number);
  // A failing test must not leave anything behind.
  onTestFinished(() => {
    for (const pid of pids) if (runs(pid)) process.kill(pid, "SIGKILL");
  });
  return pids;
}

describe("a program that ends by itself", () => {
  test("gives its code and both streams", async () => {
    expect(await shell(createTemporaryWorkspace(), "echo out; echo err >&2; exit 3")).toEqual({
      exit: { code: 3, signal: null, ended: "exit" },
      stdout: "out\n",
      stderr: "err\n",
      durationMs: expect.any(Number),
    });
  });

  test("ended by a signal has no code", async () => {
    const { exit } = await shell(createTemporaryWorkspace(), "kill -9 $$");
    expect(exit).toEqual({ code: null, signal: "SIGKILL", ended: "exit" });
  });

  test("has no input unless given, and gets all that is given", async () => {
    const workspace = createTemporaryWorkspace();
    expect((await shell(workspace, "cat; echo end")).stdout).toBe("end\n");
    const stdin = "x".repeat(300_000);
    expect((await shell(workspace, "wc -c", { stdin })).stdout.trim()).toBe("300000");
    expect((await shell(workspace, "true", { stdin })).exit.code).toBe(0);
  });

  test("delivers a large output to the last byte", async () => {
    const { stdout } = await shell(
      createTemporaryWorkspace(),
      "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last",
    );
    expect(stdout.length).toBe(3_000_000 + "\nlast\n".length);
  });

  test("runs in the workspace or a directory of it", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("sub/x", "");
    expect((await shell(workspace, "pwd -P")).stdout.trim()).toBe(workspace.root);
    expect((await shell(workspace, "pwd -P", { cwd: "sub" })).stdout.trim()).toBe(join(workspace.root, "sub"));
  });

  test("that runs beside the sandbox begins in no folder behind a link", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("real/a.txt", "a");
    symlinkSync("real", join(workspace.root, "link"));
    expect(await shell(workspace, "cat a.txt", { cwd: "real", ownProgram: true })).toMatchObject({ stdout: "a" });
    await expect(shell(workspace, ":", { cwd: "link", ownProgram: true })).rejects.toMatchObject({
      reason: "OutsideWorkspace",
    });
  });

  test("sees the allowlisted environment only", async () => {
    const { root } = createTemporaryWorkspace();
    const env = { PATH: process.env.PATH, HARNESS_TOKEN: "s", OPENAI_API_KEY: "s", AWS_PROFILE: "s", LANG: "C" };
    const processes = createProcesses({ root, env });
    let output = "";
    const onOutput = (_stream: string, chunk: Buffer) => {
      output += chunk.toString("utf8");
    };
    await processes.run({ file: "env", args: [], env: { ADDED: "yes" }, timeoutMs: 5_000, onOutput }, NEVER);
    const names = output
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0] ?? "")
      .filter((name) => !name.startsWith("GIT_"));
    expect(names.sort()).toEqual(["ADDED", "LANG", "PATH", "SHLVL", "TOOL_RUN_MARK"]);
  });

  test("does not leave a job of its group behind, nor wait for it", async () => {
    const { exit, stdout } = await shell(createTemporaryWorkspace(), "sleep 600 & echo $!");
    expect(exit).toEqual({ code: 0, signal: null, ended: "exit" });
    expect(pidsIn(stdout).map(runs)).toEqual([false]);
  });

  test.skipIf(process.platform !== "linux")(
    "is not waited for when a detached grandchild keeps the pipe open",
    async () => {
      const { exit, stdout } = await shell(
        createTemporaryWorkspace(),
        "setsid sh -c 'echo $$; : > begun; exec sleep 600' & until [ -e begun ]; do sleep 0.01; done",
      );
      expect(pidsIn(stdout).map(runs)).toEqual([true]);
      expect(exit).toEqual({ code: 0, signal: null, ended: "exit" });
    },
  );
});

describe("a program that is stopped", () => {
  const STUBBORN =
    "trap '' TERM INT HUP; echo $$; sh -c 'trap \"\" TERM; echo $$; sleep 600; sleep 600' & sleep 600; sleep 600";

  test("on timeout the whole group ends, also what ignores SIGTERM", async () => {
    const timeoutMs = 12_345;
    const isOver = Promise.withResolvers<void>();
    // The time is over as soon as both are there.
    const early = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => (ms === timeoutMs ? isOver.promise : clock.sleep(ms, signal)),
    };
    const { root } = createTemporaryWorkspace();
    let stdout = "";
    const onOutput = (_stream: string, chunk: Buffer): void => {
      stdout += chunk.toString("utf8");
      if (stdout.split("\n").length > 2) isOver.resolve();
    };
    const spec = { file: "sh", args: ["-c", STUBBORN], timeoutMs, onOutput };
    const exit = await createProcesses({ root, env: process.env, clock: early }).run(spec, NEVER);
    expect(exit).toMatchObject({ code: null, signal: "SIGKILL", ended: "timeout" });
    expect(pidsIn(stdout).map(runs)).toEqual([false, false]);
  });

  test("on abort everything ends", async () => {
    const { exit, stdout } = await shellAbortedAfter(STUBBORN, 2, new AbortController());
    expect(exit).toEqual({ code: null, signal: "SIGKILL", ended: "cancelled" });
    expect(pidsIn(stdout).map(runs)).toEqual([false, false]);
  });

  test("may clean up when it handles SIGTERM", async () => {
    const script = "trap 'echo cleaned; exit 0' TERM; echo $$; while :; do sleep 0.05; done";
    const { exit, stdout } = await shellAbortedAfter(script, 1, new AbortController());
    expect(exit).toEqual({ code: 0, signal: null, ended: "cancelled" });
    expect(stdout.split("\n")[1]).toBe("cleaned");
  });

  test.skipIf(process.platform !== "linux")("takes along a child that left the group and ignores SIGTERM", async () => {
    const script = "setsid sh -c 'trap \"\" TERM; echo $$; sleep 60; sleep 60' & wait";
    const { stdout } = await shellAbortedAfter(script, 1, new AbortController());
    expect(pidsIn(stdout).map(runs)).toEqual([false]);
  });

  test("that was cancelled before it began never begins", async () => {
    const workspace = createTemporaryWorkspace();
    const { exit } = await shell(workspace, "touch started", {}, AbortSignal.abort());
    expect(exit).toEqual({ code: null, signal: null, ended: "cancelled" });
    expect(await workspace.ports.files.stat("started")).toBeUndefined();
  });

  test("because its output is not taken fails and leaves nothing", async () => {
    let pid = 0;
    const onOutput = (_stream: string, chunk: Buffer) => {
      pid = Number(chunk.toString("utf8"));
      throw new Error("no room");
    };
    const run = shell(createTemporaryWorkspace(), "echo $$; sleep 60", { onOutput });
    await expect(run).rejects.toMatchObject({ reason: "SpawnFailed" });
    expect(runs(pid)).toBe(false);
  });

  /** Aborts as soon as the script has written `lines` lines. */
  function shellAbortedAfter(script: string, lines: number, stop: AbortController) {
    let output = "";
    const workspace = createTemporaryWorkspace();
    return shell(
      workspace,
      script,
      {
        onOutput: (stream, chunk) => {
          // The shell itself may remark on a killed child on the other stream.
          if (stream === "stdout") output += chunk.toString("utf8");
          if (stop.signal.aborted || output.split("\n").length <= lines) return;
          stop.abort();
        },
      },
      stop.signal,
    ).then((result) => ({ ...result, stdout: output }));
  }
});

describe("a program that does not start", () => {
  test("is told apart by reason", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("file", "no program");
    symlinkSync("..", join(workspace.root, "up"));
    const reason = (spec: Partial<ProcessSpec>) =>
      workspace.ports.processes.run({ file: "true", args: [], timeoutMs: 5_000, ...spec }, NEVER).then(
        () => "no error",
        (error: unknown) => (error instanceof EffectError ? error.reason : error),
      );
    expect({
      program: await reason({ file: "no-such-program" }),
      notExecutable: await reason({ file: join(workspace.root, "file") }),
      nul: await reason({ args: ["a\0b"] }),
      missingCwd: await reason({ cwd: "missing" }),
      fileCwd: await reason({ cwd: "file" }),
      outside: await reason({ cwd: ".." }),
      throughLink: await reason({ cwd: "up" }),
    }).toEqual({
      program: "NotFound",
      notExecutable: "SpawnFailed",
      nul: "SpawnFailed",
      missingCwd: "NotFound",
      fileCwd: "NotADirectory",
      outside: "OutsideWorkspace",
      throughLink: "OutsideWorkspace",
    });
  });
});

/** `run` is what a process of its own does with the port; resolves with how it ended, and with the program that it had started. */
async function leftBy(more: string): Promise<{ exit: unknown; pid: number }> {
  const workspace = createTemporaryWorkspace();
  const script = `
    import { createProcesses } from ${JSON.stringify(join(import.meta.dirname, "processes.ts"))};
    const processes = createProcesses({ root: ${JSON.stringify(workspace.root)}, env: process.env });
    const spec = { file: "sh", args: ["-c", "trap '' TERM; echo $$; sleep 60; sleep 60"], timeoutMs: 60_000 };
    processes.run({ ...spec, ${more} }, new AbortController().signal);`;
  const args = ["--input-type=module", "-e", script];
  const { exit, stdout } = await shell(workspace, "", { file: process.execPath, args });
  return { exit, pid: pidsIn(stdout)[0] ?? 0 };
}

test("the end of our own process ends what it runs", async () => {
  const { exit, pid } = await leftBy("onOutput(stream, chunk) { console.log(String(chunk).trim()); process.exit(7); }");
  expect(exit).toEqual({ code: 7, signal: null, ended: "exit" });
  await expect.poll(() => runs(pid), { interval: 10 }).toBe(false);
});

test.runIf(process.platform === "linux")(
  "a program that is spoken to while it runs also ends when our own process is killed, without a sandbox",
  async () => {
    const killed = 'process.stdout.write(String(chunk), () => process.kill(process.pid, "SIGKILL"));';
    const { exit, pid } = await leftBy(`onStdin() {}, onOutput(stream, chunk) { ${killed} }`);
    expect(exit).toMatchObject({ signal: "SIGKILL" });
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => runs(pid), { interval: 10, timeout: 10_000 }).toBe(false);
  },
);

test("programs of many workspaces at once are one listener on the exit of the process", async () => {
  const before = process.listenerCount("exit");
  const stop = new AbortController();
  let most = 0;
  const started = Array.from({ length: 20 }, () => {
    const begun = Promise.withResolvers<void>();
    const onOutput = (): void => {
      most = Math.max(most, process.listenerCount("exit"));
      begun.resolve();
    };
    const ended = shell(createTemporaryWorkspace(), "echo begun; exec sleep 60", { onOutput }, stop.signal);
    return { begun: begun.promise, ended };
  });
  await Promise.all(started.map(({ begun }) => begun));
  stop.abort();
  await Promise.all(started.map(({ ended }) => ended));
  expect(most).toBe(before + 1);
  expect(process.listenerCount("exit")).toBe(before);
});
