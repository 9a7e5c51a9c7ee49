import { describe, expect, test } from "vitest";
import { type Clock, CUT_LOOK_CHARS, EffectError, type ProcessExit, type ProcessPort, type ProcessSpec } from "#base";
import type { ToolContext } from "#engine";
import { createProcesses, createSystemClock } from "#world";
import {
  createTemporaryWorkspace,
  createToolContext,
  type TemporaryWorkspace,
} from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "../../test/fakes/test-sandbox.ts";
import { createExecTool } from "./exec.ts";

const tool = createExecTool(createSystemClock());

/** The same workspace, with a process port that runs everything in the sandbox of this machine. */
function sandboxed(workspace = createTemporaryWorkspace()): TemporaryWorkspace {
  const sandbox = createTestSandbox(workspace);
  const processes: ProcessPort = {
    run: (spec, signal) => sandbox.processes.run({ ...spec, confinement: "workspace" }, signal),
  };
  return { ...workspace, ports: { ...workspace.ports, processes } };
}

/** Everything that a command does must be the same in a sandbox. */
const places = hasSandbox ? (["outside", "inside"] as const) : (["outside"] as const);

async function exec(
  args: Record<string, unknown>,
  parts: Partial<ToolContext> = {},
  workspace = createTemporaryWorkspace(),
) {
  const { content, isError } = await tool.run(args, createToolContext(workspace.ports, parts));
  const [block] = content;
  return { text: block?.type === "text" ? block.text : "no text", isError };
}

/** A process port that writes `chunks` and then ends with `exit`; keeps what it was asked. */
function scripted(chunks: readonly (readonly ["stdout" | "stderr", Buffer])[], exit: Partial<ProcessExit> = {}) {
  const specs: ProcessSpec[] = [];
  const processes: ProcessPort = {
    async run(spec) {
      specs.push(spec);
      for (const [stream, chunk] of chunks) spec.onOutput?.(stream, chunk);
      return { code: 0, signal: null, ended: "exit", durationMs: 5, ...exit };
    },
  };
  return { specs, context: { ports: { ...createTemporaryWorkspace().ports, processes } } };
}

describe.each(places)("a command, %s a sandbox", (place) => {
  const room = (workspace = createTemporaryWorkspace()) => (place === "inside" ? sandboxed(workspace) : workspace);

  test("gives both streams in order", async () => {
    expect(await exec({ command: "echo one; echo two >&2" }, {}, room())).toEqual({
      text: expect.any(String),
      isError: false,
    });
    expect((await exec({ command: "printf 'a\\nb\\n'" }, {}, room())).text).toBe("a\nb");
    expect((await exec({ command: "true" }, {}, room())).text).toBe("(no output)");
  });

  test("is Bash, in the workspace or the named directory", async () => {
    const workspace = room();
    workspace.put("sub/file.txt", "");
    expect((await exec({ command: "[[ -n $BASH_VERSION ]] && ls" }, {}, workspace)).text).toBe("sub");
    expect((await exec({ command: "ls", cwd: "sub" }, {}, workspace)).text).toBe("file.txt");
    await expect(exec({ command: "ls", cwd: "missing" }, {}, room())).rejects.toThrow("missing is not a directory");
    await expect(exec({ command: "ls", cwd: ".." }, {}, room())).rejects.toMatchObject({ reason: "OutsideWorkspace" });
  });

  test("that fails is an error with its code", async () => {
    expect(await exec({ command: "echo oops; exit 3" }, {}, room())).toEqual({
      text: "oops\n[exit code 3]",
      isError: true,
    });
    // The sandbox hands a signal on the way a shell does.
    expect(await exec({ command: "kill -TERM $$" }, {}, room())).toEqual({
      text: `(no output)\n[${place === "inside" ? "exit code 143" : "ended by SIGTERM"}]`,
      isError: true,
    });
  });

  test("that runs too long is ended and says so", async () => {
    const begun = Promise.withResolvers<void>();
    const clock = createSystemClock();
    // Its time is up as soon as it has written something, however long that takes.
    const impatient: Clock = {
      ...clock,
      sleep: (ms, signal) => (ms === 300 ? begun.promise : clock.sleep(ms, signal)),
    };
    const workspace = createTemporaryWorkspace();
    const processes = createProcesses({ root: workspace.root, env: process.env, clock: impatient });
    const run = exec(
      { command: "echo begun; sleep 60", timeout_ms: 300 },
      { progress: () => begun.resolve() },
      room({ ...workspace, ports: { ...workspace.ports, processes } }),
    );
    await expect(run).rejects.toMatchObject({
      reason: "ToolTimeout",
      message: "begun\n[timed out after 300 ms; the process group was killed; timeout_ms may be up to 600000]",
    });
  });

  test("that took more than a second says how long", async () => {
    const { context } = scripted([["stdout", Buffer.from("x")]], { durationMs: 2_340 });
    expect(await exec({ command: "x" }, context)).toEqual({ text: "x\n[took 2.3 s]", isError: false });
  });

  test("has 120 s by default and never more than 600", async () => {
    const { specs, context } = scripted([]);
    await exec({ command: "x" }, context);
    await exec({ command: "x", timeout_ms: 10 ** 9 }, context);
    expect(specs.map((spec) => spec.timeoutMs)).toEqual([120_000, 600_000]);
  });

  test("runs in the system's shell where there is no Bash", async () => {
    const files: string[] = [];
    const processes: ProcessPort = {
      async run(spec) {
        files.push(spec.file);
        if (spec.file === "bash") throw new EffectError("NotFound", "the program bash does not exist");
        return { code: 0, signal: null, ended: "exit", durationMs: 1 };
      },
    };
    await exec({ command: "x" }, { ports: { ...createTemporaryWorkspace().ports, processes } });
    expect(files).toEqual(["bash", "/bin/sh"]);
  });

  test("that is cancelled throws the reason with what was written so far", async () => {
    const stop = new AbortController();
    const run = exec(
      { command: "echo begun; sleep 60" },
      { signal: stop.signal, progress: () => stop.abort() },
      room(),
    );
    await expect(run).rejects.toMatchObject({
      reason: "BashCancelledMidCommand",
      message: expect.stringMatching(/^Cancelled mid-Bash\. The command ran for \d+\.\d s .*Output so far:\nbegun\n$/s),
    });
  });
});

describe("output", () => {
  test("beyond the bound keeps head and tail and counts what is missing", async () => {
    const { text } = await exec({ command: "echo first; head -c 200000 /dev/zero | tr '\\0' x; echo; echo last" });
    expect(text.length).toBeLessThan(41_000);
    expect(text.startsWith("first\nxxx")).toBe(true);
    expect(text.endsWith("xxx\nlast")).toBe(true);
    // A long word is cut further in at either side: it may be what is left of a secret.
    expect(text).toContain(`[… ${6 + 200_000 + 6 - 40_000 + 2 * CUT_LOOK_CHARS} bytes left out …]`);
  });

  test("in broken UTF-8 is made whole, and characters split over chunks are put together", async () => {
    const euro = Buffer.from("€");
    const { context } = scripted([
      ["stdout", euro.subarray(0, 1)],
      ["stderr", Buffer.from("!")],
      ["stdout", euro.subarray(1)],
      ["stdout", Buffer.from([0xff, 0x41, 0xe2])],
    ]);
    expect((await exec({ command: "x" }, context)).text).toBe("!€\ufffdA\ufffd");
  });

  test("is reported while the command runs", async () => {
    const workspace = createTemporaryWorkspace();
    const reports: string[] = [];
    const progress = (text: string) => {
      reports.push(text);
      workspace.put("seen", "");
    };
    // The command goes on only after its first line was reported.
    const command = "echo one; while [ ! -e seen ]; do sleep 0.01; done; echo two";
    expect((await exec({ command }, { progress }, workspace)).text).toBe("one\ntwo");
    expect(reports).toEqual(["one\n", "two\n"]);
  });
});
