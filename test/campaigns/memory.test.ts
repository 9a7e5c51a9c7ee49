/** Memories under bad conditions: a disk that is full for a while, and programs that write at the same time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadMemoryFormat } from "#artifacts";
import { createMemoryStore } from "#memory";
import { createSystemClock } from "#world";
import { asDraft } from "../fakes/memory-rig.ts";
import { mountSmallDisk, whyNoDisk } from "../fakes/mounted-disk.ts";

const PROGRAMS = 4;
const EACH = 4;
const byPerson = { source: "a person", labels: [] };
const missing = whyNoDisk();

test.skipIf(missing !== undefined)("a full disk refuses a memory and loses none", async () => {
  const disk = mountSmallDisk("1m");
  onTestFinished(() => disk.unmount());
  const open = () =>
    createMemoryStore({
      folders: { user: join(disk.path, "user"), project: join(disk.path, "project") },
      clock: createSystemClock(),
      format: loadMemoryFormat,
      holdsSecret: async () => false,
    });
  const [kept, late] = ["kept", "late"].map((name) => asDraft({ name, body: "x".repeat(7_000) }));
  if (kept === undefined || late === undefined) throw new Error("there are two");
  await open().write(kept, byPerson);
  for (const left of [0, 4_096, 8_192, 12_288]) {
    disk.fill(left);
    await expect(open().write(late, byPerson)).rejects.toMatchObject({ reason: "DiskFull" });
    const { memories, problems } = await open().load();
    expect(problems).toEqual([]);
    expect(memories.find(({ name }) => name === "kept")?.body).toBe(kept.body);
    disk.makeRoom();
  }
  await open().write(late, byPerson);
  expect((await open().load()).memories.map(({ name }) => name)).toEqual(["kept", "late"]);
  const files = readdirSync(disk.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.filter(({ name }) => name.endsWith(".tmp"))).toEqual([]);
});

test("programs that write at the same time lose nothing of each other", async () => {
  const home = mkdtempSync(join(tmpdir(), "harness-memory-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, "p");
  mkdirSync(folder);
  const bin = resolve(import.meta.dirname, "../../bin/harness");
  const run = async (...args: string[]): Promise<string> => {
    const child = spawn(bin, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: home } });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    return out;
  };
  const names = Array.from({ length: PROGRAMS * EACH }, (_, at) => `m${String(at).padStart(2, "0")}`);
  await Promise.all(
    Array.from({ length: PROGRAMS }, async (_, program) => {
      for (const name of names.filter((_name, at) => at % PROGRAMS === program)) {
        await run("memory", "add", name, "--description", `about ${name}`);
      }
    }),
  );
  const { memories } = JSON.parse(await run("memory", "list", "--json")) as { memories: { name: string }[] };
  expect(memories.map(({ name }) => name)).toEqual(names);
});
