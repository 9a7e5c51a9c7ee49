/** Commands in the background, in the whole program: what the model and people see, what is on the record, and what ends them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MAX_RUNNING_JOBS } from "../src/tools/background-jobs.ts";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import type { MockReply } from "./fakes/mock-reply.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const allowed = {
  permissions: [{ effect: "allow", rule: "Bash", source: "test" }],
  tools: { execution: "auto", onError: "continue" },
} as const;

function rigOf(...replies: readonly MockReply[]): Promise<HarnessRig> {
  return createHarnessRig(replies, { settings: allowed });
}

const beside = (command: string, more: object = {}) => calls(["exec", { command, background: true, ...more }]);
/** A command that waits until a file appears, at most ten seconds. */
const until = (file: string) => `for i in $(seq 1000); do [ -e ${file} ] && break; sleep 0.01; done`;

function texts(rig: HarnessRig): readonly string[] {
  return rig
    .of("ToolResult")
    .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join());
}

function jobOf(rig: HarnessRig) {
  const job = rig.of("JobStarted")[0]?.job;
  if (job === undefined) throw new Error("no background command was started");
  return job;
}

describe("a background command", () => {
  test("returns at once, goes on beside the turn, and the model reads a note when it has ended", async () => {
    const rig = await rigOf(beside(`${until("go")}; echo out; exit 3`), says("started"), says("seen"));
    await rig.send();
    expect(rig.of("JobEnded")).toEqual([]);
    expect(rig.harness.control.sessions()).toMatchObject([{ jobs: 1, activity: "idle" }]);
    const listed = async () => (await rig.submit({ kind: "DescribeSession" })).result.jobs;
    expect(await listed()).toEqual([
      { job: jobOf(rig), command: expect.stringContaining("exit 3"), started_at: expect.any(String), kept: false },
    ]);
    rig.workspace.put("go", "");
    const ended = await rig.next("JobEnded");
    expect(await listed()).toMatchObject([{ ended: "exit code 3" }]);
    expect(ended).toMatchObject({ job: jobOf(rig), status: "exited", exit_code: 3, printed_bytes: 4 });
    expect(
      rig
        .of("JobOutput")
        .map(({ text }) => text)
        .join(""),
    ).toBe("out\n");
    await rig.send("and now?");
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain(
      `The background command ${jobOf(rig)} has ended`,
    );
  });

  test("has a receipt: the intent of its call, a record before it runs, and one of its end", async () => {
    const rig = await rigOf(beside("echo hi"), says("done"));
    await rig.send();
    await rig.next("JobEnded");
    const kinds = rig.events
      .map(({ kind }) => kind)
      .filter((kind) => /^(ToolIntent|ToolOutcome|Job(?!Output))/.test(kind));
    expect(kinds.slice(0, 2)).toEqual(["ToolIntent", "JobStarted"]);
    expect(kinds).toContain("ToolOutcome");
    expect(rig.of("ToolOutcome")).toMatchObject([{ outcome: "ok", effects: [{ port: "process" }] }]);
    expect(rig.of("JobStarted")).toMatchObject([{ command: "echo hi", confinement: "workspace" }]);
  });

  test("that needs an answer and gets none does not run", async () => {
    const rig = await createHarnessRig([beside("touch made"), says("done")]);
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
    expect(rig.of("JobStarted")).toEqual([]);
  });

  test("that only reads needs no answer, and runs as a reader", async () => {
    const rig = await createHarnessRig([beside("ls"), says("done")]);
    rig.workspace.put("a.txt", "");
    await rig.send();
    expect(await rig.next("JobEnded")).toMatchObject({ status: "exited", exit_code: 0 });
    expect(rig.of("JobStarted")).toMatchObject([{ confinement: "reader" }]);
  });

  test("does not show the names that it must not make as folders of the workspace", async () => {
    const rig = await rigOf(beside(until("go")), calls(["fs_list", {}]), says("seen"));
    rig.workspace.put("a.txt", "x");
    await rig.send();
    expect(texts(rig)[1]).toBe("a.txt (1 B)");
    rig.workspace.put("go", "");
    await rig.next("JobEnded");
  });

  test("is read from where the model stopped, whole lines while it runs, and waited for", async () => {
    const rig = await createHarnessRig([], { settings: allowed });
    rig.vendor.reply(beside(`echo one; printf half; ${until("go")}; echo " and more"; echo two`), says("started"));
    await rig.send();
    while (rig.of("JobOutput").length === 0) await rig.next("JobOutput");
    const job = jobOf(rig);
    rig.vendor.reply(
      calls(["job_read", { job }]),
      calls(["fs_write", { path: "go", content: "" }]),
      calls(["job_read", { job, wait_ms: 10_000 }]),
      calls(["job_read", {}]),
      says("done"),
    );
    await rig.submit({ kind: "SetMode", mode: "accept-edits" });
    await rig.send("look");
    const [, first, , second, list] = texts(rig);
    expect(first).toMatch(/^one\n\[running for/);
    expect(second).toMatch(/^half and more\ntwo\n\[ended after .*exit code 0/);
    expect(list).toContain(job);
  });

  test("is stopped by the agent, and an unknown one is named with those that are known", async () => {
    const rig = await rigOf(beside("sleep 600"), says("started"));
    await rig.send();
    const job = jobOf(rig);
    rig.vendor.reply(calls(["job_stop", { job }], ["job_read", { job: "job_x" }]), says("done"));
    await rig.send("stop it");
    expect(rig.of("JobEnded")).toMatchObject([{ status: "stopped", detail: "by the agent" }]);
    expect(texts(rig).join("\n")).toContain(`There is no background command job_x. Known: ${job}`);
  });

  test("ends with the session, and what it started with it", async () => {
    const rig = await rigOf(beside("(sleep 0.3; touch left) & sleep 600"), says("started"));
    await rig.send();
    await rig.submit({ kind: "EndSession" });
    expect(rig.of("JobEnded")).toMatchObject([{ status: "stopped", detail: "the session ended" }]);
    const kinds = rig.events.map(({ kind }) => kind);
    expect(kinds.indexOf("JobEnded")).toBeLessThan(kinds.indexOf("SessionEnded"));
    expect(existsSync(join(rig.workspace.root, "left"))).toBe(false);
  });

  test("that was allowed goes on when plan mode begins: it can be read and stopped, and no other starts", async () => {
    const rig = await rigOf(beside(`${until("go")}; echo late > made; echo out`), beside("sleep 600"), says("started"));
    await rig.send();
    const [first, second] = rig.of("JobStarted").map(({ job }) => job);
    rig.vendor.reply(
      calls(["exec", { command: "touch other", background: true }], ["job_read", { job: first }]),
      calls(["job_stop", { job: second }]),
      says("planned"),
      says("seen"),
    );
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send("plan it");
    expect(rig.of("ToolResult").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "exec ok",
      "exec ok",
      "exec denied",
      "job.read ok",
      "job.stop ok",
    ]);
    expect(rig.of("JobStarted")).toHaveLength(2);
    expect(rig.of("JobEnded")).toMatchObject([{ job: second, status: "stopped" }]);
    rig.workspace.put("go", "");
    await expect.poll(() => rig.of("JobEnded").at(-1)).toMatchObject({ job: first, status: "exited", exit_code: 0 });
    expect(existsSync(join(rig.workspace.root, "made"))).toBe(true);
    await rig.send("and now?");
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("The background command");
  });

  test("does not end with a turn that is cancelled", async () => {
    const rig = await rigOf(beside("sleep 600"), calls(["job_read", { wait_ms: 600_000 }]), says("done"));
    const turn = rig.send();
    await rig.next("ToolResult");
    await rig.submit({ kind: "CancelTurn" });
    expect(await turn).toMatchObject({ outcome: "cancelled" });
    expect(rig.of("JobEnded")).toEqual([]);
  });

  test("that is cancelled before it runs does not run", async () => {
    const rig = await rigOf(beside("touch made"), says("done"));
    const turn = rig.send();
    await rig.next("JobStarted");
    await rig.submit({ kind: "CancelTurn" });
    await turn;
    expect(rig.of("JobEnded")).toMatchObject([{ status: "stopped" }]);
  });

  test("ends when its time is over", async () => {
    const rig = await rigOf(beside("sleep 600", { timeout_ms: 50 }), says("started"));
    await rig.send();
    expect(await rig.next("JobEnded")).toMatchObject({ status: "timeout" });
  });

  test("that has ended already cannot be stopped, and whoever tries reads so", async () => {
    const rig = await rigOf(beside("exit 0"), says("started"));
    await rig.send();
    await rig.next("JobEnded");
    const stop = { kind: "RunSlashCommand", namespace: "jobs", name: "stop", args: { job: "1" } } as const;
    expect((await rig.submit(stop)).result).toMatchObject({ text: `${jobOf(rig)} has ended already.` });
  });

  test("that cannot start is an error of its call, with a record of its end", async () => {
    const rig = await rigOf(beside("echo hi", { cwd: "nowhere" }), says("done"));
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true }]);
    expect(rig.harness.control.sessions()).toMatchObject([{ jobs: 0 }]);
  });

  test("secrets in what it prints reach neither the log nor the model", async () => {
    const key = `sk-ant-api03-${"a1B2".repeat(23)}AA`;
    const rig = await rigOf(beside(`printf ${key.slice(0, 20)}; sleep 0.1; echo ${key.slice(20)}`), says("started"));
    await rig.send();
    await rig.next("JobEnded");
    rig.vendor.reply(calls(["job_read", { job: jobOf(rig) }]), says("done"));
    await rig.send("look");
    expect(
      rig
        .of("JobOutput")
        .map(({ text }) => text)
        .join(""),
    ).toContain("«redacted:");
    expect(texts(rig).at(-1)).toContain("«redacted:");
  });

  test("a secret is not read in two halves, wherever a reader begins or stops, and labels what was read", async () => {
    const key = `sk-ant-api03-${"a1B2".repeat(23)}AA`;
    const print = `echo; echo ${key.slice(0, 20)}""${key.slice(20)}; echo end`;
    const rig = await rigOf(beside(`head -c 19960 /dev/zero | tr '\\0' x; ${print}`), says("started"));
    await rig.send();
    await rig.next("JobEnded");
    const read = (from?: number) => calls(["job_read", { job: jobOf(rig), ...(from !== undefined && { from }) }]);
    rig.vendor.reply(read(), read(), read(19_975), says("done"));
    await rig.send("look");
    expect(texts(rig).slice(1).join("\n")).not.toContain("a1B2");
    expect(rig.of("ToolResult").at(-1)).not.toHaveProperty("labels", undefined);
    expect(rig.of("ToolResult")[1]?.labels).toEqual(["private"]);
  });

  test("there are at most so many at once", async () => {
    const all = Array.from(
      { length: MAX_RUNNING_JOBS + 2 },
      (_, index) => ["exec", { command: `sleep 60${index}`, background: true }] as const,
    );
    const rig = await rigOf(calls(...all), says("done"));
    await rig.send();
    expect(rig.of("JobStarted")).toHaveLength(MAX_RUNNING_JOBS);
    expect(texts(rig).at(-1)).toContain("background commands run already");
  });
});

describe("a background command that writes what programs of the person obey", () => {
  const hook = (folder: string) =>
    `git init -q ${folder} && printf 'touch ran' > ${folder}/.git/hooks/pre-commit && chmod +x ${folder}/.git/hooks/pre-commit`;

  test.each([
    ["a hook of a new repository", hook("."), ".git/hooks/pre-commit"],
    [
      "a hook of a new repository in a folder, again and again",
      `while :; do ${hook("sub")}; done`,
      "sub/.git/hooks/pre-commit",
    ],
    ["a file with a name that only a pattern protects", "touch mise.x.toml", "mise.x.toml"],
  ])("is ended while it would go on, and %s is taken away", async (_, command, path) => {
    const rig = await rigOf(beside(`${command}; sleep 600`), says("started"));
    await rig.send();
    expect(await rig.next("JobEnded")).toMatchObject({
      status: "stopped",
      detail: expect.stringContaining("git, an editor"),
    });
    expect(existsSync(join(rig.workspace.root, path))).toBe(false);
    expect(existsSync(join(rig.workspace.root, `${path}.held-back`))).toBe(true);
  });

  test("goes on when it makes a repository that runs nothing", async () => {
    const rig = await rigOf(beside("git init -q sub; sleep 2.5; echo over"), says("started"));
    await rig.send();
    expect(await rig.next("JobEnded")).toMatchObject({ status: "exited", exit_code: 0 });
  });
});

describe("a person", () => {
  const slash = async (rig: HarnessRig, namespace: string, name: string, args = {}): Promise<string> =>
    (await rig.submit({ kind: "RunSlashCommand", namespace, name, args })).result.text ?? "";

  test("lists, reads and stops background commands, by their number or the end of their id", async () => {
    const rig = await rigOf(beside("echo out; sleep 600"), says("started"));
    expect(await slash(rig, "", "jobs")).toBe("No background commands.");
    await rig.send();
    await rig.next("JobOutput");
    expect(await slash(rig, "", "jobs")).toMatch(/^1 {2}job_\w+ {2}running for .* echo out; sleep 600$/);
    expect(await slash(rig, "jobs", "output", { job: "1" })).toContain("out");
    await slash(rig, "jobs", "stop", { job: jobOf(rig).slice(-6) });
    expect(rig.of("JobEnded")).toMatchObject([{ status: "stopped", detail: "by a person" }]);
    await expect(slash(rig, "jobs", "stop", { job: "7" })).rejects.toMatchObject({ reason: "InvalidCommand" });
  });

  test("and an agent with a token see no secret in what one is called and prints", async () => {
    const key = `sk-ant-api03-${"a1B2".repeat(23)}AA`;
    const rig = await rigOf(beside(`echo ${key}; head -c 7950 /dev/zero`), says("started"));
    await rig.send();
    await rig.next("JobEnded");
    expect(await slash(rig, "", "jobs")).toContain("«redacted:");
    const output = await slash(rig, "jobs", "output", { job: "1" });
    expect(output).not.toContain("a1B2");
  });

  test("keeps one only where sessions go on when nobody is attached", async () => {
    const here = await rigOf(beside("sleep 600"), says("started"));
    await here.send();
    await expect(slash(here, "jobs", "keep", { job: "1" })).rejects.toMatchObject({ reason: "NotAllowed" });
    const served = await createHarnessRig([beside("sleep 600"), says("started")], {
      settings: allowed,
      waitsForHumans: true,
    });
    await served.send();
    const retired = () => served.harness.control.retire(served.session);
    served.client.disconnect();
    await slash(served, "jobs", "keep", { job: "1" });
    expect(await retired()).toBe(false);
    await slash(served, "jobs", "stop", { job: "1" });
    expect(await retired()).toBe(true);
  });

  test("is the only one to stop or keep one by hand", async () => {
    const rig = await rigOf(beside("sleep 600"), says("started"));
    await rig.send();
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: false });
    for (const name of ["stop", "keep"]) {
      const command = { kind: "RunSlashCommand", session: rig.session, namespace: "jobs", name, args: { job: "1" } };
      await expect(agent.submit(command as never)).rejects.toMatchObject({ reason: "NotAllowed" });
    }
  });
});

describe("what a background command changed in the workspace", () => {
  const undo = () => ({ directory: join(createTemporaryWorkspace().outside, "undo"), key: Buffer.alloc(32, 1) });

  test("is taken back with its turn, also what it wrote after the turn", async () => {
    const rig = await createHarnessRig([beside(`touch early; ${until("go")}; touch late`), says("started")], {
      settings: allowed,
      undo: undo(),
    });
    await rig.send();
    rig.workspace.put("go", "");
    await rig.next("JobEnded");
    const there = (): boolean[] => ["early", "late"].map((file) => existsSync(join(rig.workspace.root, file)));
    expect(there()).toEqual([true, true]);
    await rig.submit({ kind: "UndoTurn" });
    expect(there()).toEqual([false, false]);
  });

  test("is no longer recorded when another call begins to change something", async () => {
    const rig = await createHarnessRig(
      [
        ...[beside(`touch early; ${until("go")}; touch late`), says("started")],
        ...[calls(["exec", { command: "touch other" }]), says("done")],
      ],
      { settings: allowed, undo: undo() },
    );
    await rig.send();
    await expect.poll(() => existsSync(join(rig.workspace.root, "early"))).toBe(true);
    await rig.send();
    rig.workspace.put("go", "");
    await rig.next("JobEnded");
    await rig.submit({ kind: "UndoTurn" });
    await rig.submit({ kind: "UndoTurn" });
    const left = ["early", "other", "late"].filter((file) => existsSync(join(rig.workspace.root, file)));
    expect(left).toEqual(["late"]);
  });
});

describe("a recording with a background command", () => {
  test("is replayed byte for byte", async () => {
    const recording = await record([beside("echo one; sleep 0.05; echo two"), says("started"), says("seen")], {
      settings: allowed,
      async drive(rig) {
        await rig.send("one");
        await rig.next("JobEnded");
        await rig.send("two");
      },
    });
    const replay = await startReplay(recording, { settings: allowed });
    for (const text of ["one", "two"]) await replay.send(text);
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
  });
});
