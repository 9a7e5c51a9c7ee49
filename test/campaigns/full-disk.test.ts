/** A disk that is full for a while takes no daemon down; `bench/disk-full.ts` does the same at many more points. */
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDiskDaemon } from "../fakes/disk-daemon.ts";
import { diskPoints } from "../fakes/disk-points.ts";
import { mountExt4Disk } from "../fakes/ext4-disk.ts";
import { fillDisks } from "../fakes/full-disks.ts";
import { whyNoDisk } from "../fakes/mounted-disk.ts";
import { mountSwitchedDisk } from "../fakes/switched-disk.ts";

const PAGE_BYTES = 4096;
const MOMENTS = [
  "before an input",
  "before an input that nobody waits for",
  "while a call runs",
  "while an input waits",
  "while a session ends",
  "while a token is made",
  "while a rule is kept",
  "while old content goes",
];

const missing = whyNoDisk();
if (missing !== undefined) process.stderr.write(`test/campaigns/full-disk.test.ts is skipped: ${missing}\n`);

test.skipIf(missing !== undefined)("a daemon whose disk fills up", async () => {
  const points = diskPoints
    .filter(({ name }) => MOMENTS.includes(name))
    .map((point) => ({ ...point, layout: "everything" }));
  const report = await fillDisks(points.length, Math.random, points);
  expect(report.failures).toEqual([]);
  expect(report).toMatchObject({ points: MOMENTS.length, endedDaemons: 0, lostAcknowledgements: 0 });
});

test.each([
  [
    "log becomes read-only",
    mountSwitchedDisk,
    ["the log read-only for a while", "the log of lines read-only for a while"],
  ],
  ["file system the kernel gives up", mountExt4Disk, ["a file system that the kernel gives up"]],
])("a daemon whose %s", { timeout: 120_000 }, async (_, mount, names) => {
  const reason = whyNoDisk(mount);
  if (reason !== undefined) {
    process.stderr.write(`${expect.getState().currentTestName} is skipped: ${reason}\n`);
    return;
  }
  const points = diskPoints.filter(({ name }) => names.includes(name));
  const report = await fillDisks(points.length, Math.random, points);
  expect(report.failures).toEqual([]);
  expect(report).toMatchObject({ points: names.length, endedDaemons: 0, lostAcknowledgements: 0 });
});

test.skipIf(missing !== undefined)("a daemon in the background whose own output has no room", async () => {
  const daemon = createDiskDaemon(["state"]);
  onTestFinished(daemon.remove);
  const state = join(daemon.env.XDG_STATE_HOME ?? "", "harness");
  const started = await daemon.run("daemon", "start", "--json", "-m", "scripted:offline", "--sandbox", "off");
  const { pid } = JSON.parse(started.out) as { pid: number };
  onTestFinished(async () => void (await daemon.run("daemon", "stop")));
  const token = readFileSync(join(state, "control.token"), "utf8").trim();
  const ask = (method: string, path: string, body?: unknown) => daemon.ask(method, path, body, token);
  await ask("GET", "/v1/handshake");
  // Not even what is left of their last pages.
  for (const name of readdirSync(join(state, "log"))) {
    const file = join(state, "log", name);
    appendFileSync(file, "x".repeat(PAGE_BYTES - (statSync(file).size % PAGE_BYTES)));
  }
  daemon.disk.fill();
  const { json } = await ask("POST", "/v1/sessions", { working_dir: daemon.workspace });
  const input = { content: [{ type: "text", text: "hello" }] };
  expect((await ask("POST", `/v1/sessions/${json.id}/input?wait=turn`, input)).status).toBe(200);
  // Its head cannot be kept, which it says where nothing fits.
  expect((await ask("DELETE", `/v1/sessions/${json.id}`)).status).toBe(204);
  const { log } = (await ask("GET", "/v1/health")).json.subsystems;
  expect(log).toMatchObject({ state: "failing", problem: expect.stringContaining("ENOSPC") });
  expect(log.lost).toBeGreaterThan(0);
  daemon.disk.makeRoom();
  expect((await ask("POST", "/v1/sessions", { working_dir: daemon.workspace })).status).toBe(201);
  expect((await ask("GET", "/v1/health")).json.subsystems.log).toMatchObject({ state: "ok", lost: log.lost });
  expect(JSON.parse((await daemon.run("daemon", "status", "--json")).out)).toMatchObject({ state: "running", pid });
});
