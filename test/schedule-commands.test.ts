/** Schedules that a person changes in a conversation: stored for the daemon, on the record, and for nobody but people with all sessions. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scheduleStore } from "#program/schedules";
import { builtInWords, deedOf, parseSlash, ReasonError } from "#protocol";
import { createSystemClock } from "#world";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./fakes/harness-rig.ts";

interface Rig extends HarnessRig {
  readonly started: () => number;
  readonly files: () => string[];
}

async function openRig(options: RigOptions = {}): Promise<Rig> {
  let starts = 0;
  const rig = await createHarnessRig([], {
    homeFolder: "home",
    startDaemon: async () => {
      starts += 1;
    },
    ...options,
  });
  const folder = join(rig.workspace.outside, "home/.local/share/harness/schedules");
  const files = (): string[] =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".schedule")) : [];
  return { ...rig, started: () => starts, files };
}

const hourly = { kind: "AddSchedule", name: "triage", prompt: "Triage.", every: "1h" } as const;

describe("a person in a conversation", () => {
  test("adds a schedule for its folder, asks for a run and removes it; the log says who", async () => {
    const rig = await openRig();
    const { result } = await rig.submit({ ...hourly, model: "a:b", plan: true, max_cost_usd: 0.5, max_steps: 3 });
    expect(result).toMatchObject({
      ...{ name: "triage", times: "every 1h", folder: rig.workspace.root, model: "a:b", plan: true },
      ...{ max_cost_usd: 0.5, max_steps: 3, ticks: [], next_at: expect.any(String) },
    });
    expect(rig.started()).toBe(1);
    const asked = await rig.submit({ kind: "RunSchedule", name: "triage" });
    expect(asked.result.ticks).toMatchObject([{ state: "requested", manual: true }]);
    expect((await rig.submit({ kind: "ListSchedules" })).result).toEqual([asked.result]);
    await expect(rig.submit({ kind: "RunSchedule", name: "triage" })).rejects.toMatchObject({ reason: "NotAllowed" });
    await rig.submit({ kind: "RemoveSchedule", name: "triage" });
    expect(rig.files()).toEqual([]);
    const by = rig.client.id;
    expect(rig.of("ScheduleChanged")).toMatchObject([
      { name: "triage", change: "added", by, folder: rig.workspace.root, next_at: result.next_at },
      { name: "triage", change: "run", by },
      { name: "triage", change: "removed", by },
    ]);
  });

  test("reads what is wrong, and nothing is changed", async () => {
    const rig = await openRig();
    const { kind, name, prompt } = hourly;
    const wrong = [
      [{ kind, name, prompt }, "say when it runs"],
      [{ ...hourly, cron: "0 6 * * *" }, "not both"],
      [{ kind, name, prompt, cron: "61 * * * *" }, "cron expression"],
      [{ kind, name, prompt, cron: "0 6 * * *", timezone: "Mars" }, "time zone"],
      [{ ...hourly, every: "1s" }, "--every"],
      [{ ...hourly, prompt: " " }, "prompt is empty"],
      [{ ...hourly, model: "scripted:./loop.yaml" }, "needs an absolute path"],
      [{ ...hourly, name: "../x" }, "name for a schedule"],
    ] as const;
    for (const [command, text] of wrong) {
      await expect(rig.submit(command), text).rejects.toMatchObject({
        reason: "UsageInvalid",
        message: expect.stringContaining(text),
      });
    }
    for (const kind of ["RemoveSchedule", "RunSchedule"] as const) {
      await expect(rig.submit({ kind, name: "none" })).rejects.toMatchObject({ reason: "UsageInvalid" });
    }
    await rig.submit(hourly);
    await expect(rig.submit(hourly)).rejects.toMatchObject({ reason: "AlreadyExists" });
    expect(rig.files()).toEqual(["triage.schedule"]);
  });

  test("keeps no secret in a prompt, and is told when no daemon can be started", async () => {
    const rig = await openRig({
      startDaemon: () => Promise.reject(new ReasonError("DaemonFailed", { detail: "no room" })),
    });
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const failing = rig.submit({ ...hourly, prompt: `Use ${secret}.` });
    await expect(failing).rejects.toMatchObject({ reason: "DaemonFailed" });
    // It is kept: the error says what is missing.
    expect((await rig.submit({ kind: "ListSchedules" })).result).toMatchObject([{ name: "triage" }]);
    const env = { HOME: join(rig.workspace.outside, "home") };
    expect(scheduleStore({ env, clock: createSystemClock() }).get("triage").prompt).toMatch(/^Use .*redacted.*\.$/);
  });
});

test("an agent, and a token for some sessions, change and see nothing", async () => {
  const rig = await openRig();
  const connect = (options: object) =>
    rig.harness.control.connect({ identityClass: "human", interactive: false, ...options });
  const refused = new ReasonError("TokenScope", { jti: "x", what: "CreateSession outside its sessions" });
  const limited = connect({
    allow: () => {
      throw refused;
    },
  });
  const agent = connect({ identityClass: "agent" });
  const { session } = rig;
  await rig.submit(hourly);
  const commands = [
    { kind: "ListSchedules", session },
    { ...hourly, name: "other", session },
    { kind: "RemoveSchedule", name: "triage", session },
    { kind: "RunSchedule", name: "triage", session },
  ] as const;
  for (const command of commands) {
    await expect(agent.submit(command), command.kind).rejects.toMatchObject({ reason: "NotAllowed" });
    await expect(limited.submit(command), command.kind).rejects.toBe(refused);
  }
  expect(rig.files()).toEqual(["triage.schedule"]);
  expect(rig.of("ScheduleChanged")).toHaveLength(1);
});

test("where no daemon would run them, schedules are not changed", async () => {
  const rig = await createHarnessRig([], { homeFolder: "home" });
  await expect(rig.submit(hourly)).rejects.toMatchObject({ reason: "NotAllowed" });
});

describe("/schedule", () => {
  function read(line: string): unknown {
    const parsed = parseSlash(line, builtInWords);
    if ("problem" in parsed) throw new Error(parsed.problem);
    return deedOf(parsed.command, parsed.args);
  }
  const command = (fields: object) => ({ by: "command", command: fields });

  test.each([
    ["/schedule", { by: "engine" }],
    ["/schedule run triage", command({ kind: "RunSchedule", name: "triage" })],
    ["/schedule remove triage", command({ kind: "RemoveSchedule", name: "triage" })],
    [
      "/schedule add a 6h Which tests\nare slow?",
      command({ ...hourly, name: "a", every: "6h", prompt: "Which tests\nare slow?" }),
    ],
    [
      "/schedule add a */5 6 * * 1-5 Triage 3 issues.",
      command({ kind: "AddSchedule", name: "a", cron: "*/5 6 * * 1-5", prompt: "Triage 3 issues." }),
    ],
  ])("%j", (line, deed) => {
    expect(read(line)).toEqual(deed);
  });

  test.each([
    "/schedule add",
    "/schedule add a",
    "/schedule add a 6h",
    "/schedule add a Triage.",
    "/schedule run",
    "/schedule run a b",
  ])("%j says what is missing", (line) => {
    expect(() => read(line)).toThrow(/\/schedule/);
  });
});
