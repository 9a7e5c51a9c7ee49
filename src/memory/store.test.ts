import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadMemoryFormat } from "#artifacts";
import type { MemoryDraft } from "#base";
import { createSystemClock } from "#world";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createSmallDisk, whyNoDisk } from "../../test/fakes/small-disk.ts";
import { createMemoryStore, MAX_MEMORIES, type OwnMemoryStore } from "./store.ts";

const SECRET = "sk-test-not-a-real-key";
const byPerson = { source: "a person", labels: [] };

interface Rig {
  readonly folder: string;
  readonly user: string;
  readonly store: OwnMemoryStore;
  /** As another process would open it. */
  open(): OwnMemoryStore;
}

function createRig(parent = tmpdir()): Rig {
  const folder = mkdtempSync(join(parent, "harness-memory-"));
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = { ...createSystemClock(), now: createManualClock().now };
  const user = join(folder, "user");
  const open = (): OwnMemoryStore =>
    createMemoryStore({
      folders: { user, project: join(folder, "project") },
      clock,
      format: loadMemoryFormat,
      holdsSecret: async (text) => text.includes(SECRET),
    });
  return { folder, user, store: open(), open };
}

const draft: MemoryDraft = {
  name: "tabs",
  scope: "user",
  tier: "long-term",
  type: "user",
  description: "Prefers tabs: always",
  tags: ["style"],
  body: "Also in YAML.\n\n---\nnot: frontmatter",
};

function place(user: string, name: string, text: string, tier = "long-term"): void {
  mkdirSync(join(user, tier), { recursive: true });
  writeFileSync(join(user, tier, name), text, { mode: 0o600 });
}

test("a memory is read as it was written, by every process, and listed in MEMORY.md", async () => {
  const { user, store, open } = createRig();
  expect(store.isThere()).toBe(false);
  const origin = { source: 'agent "x": y', labels: ["untrusted" as const] };
  expect(await store.write(draft, origin)).toBe("new");
  const memory = { ...draft, ...origin, updated: "2026-01-01" };
  expect(await open().load()).toEqual({ memories: [memory], problems: [] });
  expect(open().isThere()).toBe(true);
  expect(readFileSync(join(user, "MEMORY.md"), "utf8")).toContain(
    "- [tabs](long-term/tabs.md): Prefers tabs: always (user, style)",
  );
});

test("changing the tier moves the file; what is unchanged is not read again", async () => {
  const { user, store } = createRig();
  await store.write(draft, byPerson);
  const before = await store.load();
  expect(await store.load()).toBe(before);
  expect(await store.write({ ...draft, tier: "core" }, byPerson)).toBe("changed");
  expect(readdirSync(join(user, "long-term"))).toEqual([]);
  expect((await store.load()).memories.map(({ tier }) => tier)).toEqual(["core"]);
});

test("changes are taken back one by one, the last one first", async () => {
  const { store } = createRig();
  await store.write(draft, byPerson);
  await store.write({ ...draft, description: "Prefers spaces" }, byPerson);
  expect(await store.forget("user", "tabs")).toBe(true);
  expect(await store.forget("user", "tabs")).toBe(false);
  const descriptions = async () => (await store.load()).memories.map(({ description }) => description);
  expect(await descriptions()).toEqual([]);
  expect((await store.undo("user"))?.name).toBe("tabs");
  expect(await descriptions()).toEqual(["Prefers spaces"]);
  await store.undo("user");
  expect(await descriptions()).toEqual(["Prefers tabs: always"]);
  await store.undo("user");
  expect(await descriptions()).toEqual([]);
  expect(await store.undo("user")).toBeUndefined();
});

test("what is erased cannot be brought back", async () => {
  const { user, store } = createRig();
  await store.write(draft, byPerson);
  await store.write({ ...draft, name: "other" }, byPerson);
  await store.forget("user", "tabs");
  expect(await store.erase("user", "tabs")).toBe(true);
  expect(readdirSync(join(user, ".changes"))).toHaveLength(1);
  expect(await store.erase("user", "tabs")).toBe(false);
});

test.each([
  ["description", { description: `the key is ${SECRET}` }],
  ["body", { body: SECRET }],
  ["tags", { tags: [SECRET] }],
  ["keywords", { keywords: ["a token", SECRET] }],
])("a memory with a secret in its %s is refused, and nothing of it is on the disk", async (_, part) => {
  const { folder, store } = createRig();
  await expect(store.write({ ...draft, ...part }, byPerson)).rejects.toThrow("must not hold a secret");
  const written = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(written.map(({ name }) => name)).toEqual([]);
});

test.each([
  ["a link", (user: string) => symlinkSync("/etc/hosts", join(user, "long-term", "bad.md")), "ELOOP"],
  [
    "a file that others can read",
    (user: string) => {
      place(user, "bad.md", "---\ndescription: x\n---\n");
      chmodSync(join(user, "long-term", "bad.md"), 0o644);
    },
    "others can reach it",
  ],
  ["no frontmatter", (user: string) => place(user, "bad.md", "obey me"), "does not begin with frontmatter"],
  ["YAML that is none", (user: string) => place(user, "bad.md", "---\ndescription: [\n---\n"), "bad.md"],
  [
    "an alias bomb",
    (user: string) => place(user, "bad.md", `---\na: &a [x]\n${"b: [*a, *a]\n".repeat(50)}---\n`),
    "bad.md",
  ],
  ["a wrong type", (user: string) => place(user, "bad.md", "---\ndescription: x\ntype: root\n---\n"), '"root"'],
  ["a huge file", (user: string) => place(user, "bad.md", "x".repeat(100_000)), "more than 65536 bytes"],
  ["a name of another kind", (user: string) => place(user, "Bad Name.md", "---\ndescription: x\n---\n"), "its name"],
  ["a folder", (user: string) => mkdirSync(join(user, "long-term", "bad.md")), "not a regular file"],
])("%s is left out with its reason, and the others are read", async (_, make, why) => {
  const { user, store } = createRig();
  await store.write(draft, byPerson);
  make(user);
  const { memories, problems } = await store.load();
  expect(memories.map(({ name }) => name)).toEqual(["tabs"]);
  expect(problems).toEqual([expect.stringContaining(why)]);
});

test("of too many memories the first are read, and no further one is written", async () => {
  const { user, store } = createRig();
  for (let at = 0; at < MAX_MEMORIES + 5; at++) place(user, `m${at}.md`, "---\ndescription: x\n---\n");
  const { memories, problems } = await store.load();
  expect(memories).toHaveLength(MAX_MEMORIES);
  expect(problems).toEqual([expect.stringContaining("more than 2000 memories")]);
  await expect(store.write(draft, byPerson)).rejects.toThrow("no room for another memory");
});

test("writers at the same time lose nothing of each other", async () => {
  const { store, open, user } = createRig();
  const stores = [store, open(), open()];
  const names = Array.from({ length: 12 }, (_, at) => `m${at}`);
  await Promise.all(names.map(async (name, at) => stores[at % 3]?.write({ ...draft, name }, byPerson)));
  expect((await open().load()).memories.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  expect(readdirSync(join(user, ".changes"))).toHaveLength(12);
  expect(readFileSync(join(user, "MEMORY.md"), "utf8").match(/^- /gm)).toHaveLength(12);
});

test("a folder that cannot be written keeps what was there", async () => {
  const { store, folder } = createRig();
  await store.write(draft, byPerson);
  writeFileSync(join(folder, "project"), "in the way");
  await expect(store.write({ ...draft, scope: "project" }, byPerson)).rejects.toMatchObject({ name: "EffectError" });
  expect((await store.load()).memories).toHaveLength(1);
});

test.each(["../x", "a/b", "", ".", "A", "a\0b", "x".repeat(65)])("%j is the name of no memory", async (name) => {
  const { folder, store } = createRig();
  await expect(store.write({ ...draft, name }, byPerson)).rejects.toThrow("cannot be the name of a memory");
  await expect(store.forget("user", name)).rejects.toThrow("cannot be the name of a memory");
  await expect(store.erase("user", name)).rejects.toThrow("cannot be the name of a memory");
  expect(readdirSync(folder)).toEqual([]);
});

const noDisk = whyNoDisk();
if (noDisk !== undefined) process.stderr.write(`src/memory/store.test.ts: full disks are skipped: ${noDisk}\n`);

test.skipIf(noDisk !== undefined)("a full disk changes no memory, no record and no list, and says so", async () => {
  const disk = createSmallDisk("1m");
  const { user, store } = createRig(disk.path);
  await store.write(draft, byPerson);
  const list = readFileSync(join(user, "MEMORY.md"), "utf8");
  const files = () => readdirSync(user, { recursive: true }).toSorted();
  const before = files();
  disk.fill();
  for (const name of ["tabs", "other"]) {
    const written = store.write({ ...draft, name, description: "Prefers spaces" }, byPerson);
    await expect(written).rejects.toMatchObject({ reason: "DiskFull" });
  }
  expect(files()).toEqual(before);
  expect(readFileSync(join(user, "MEMORY.md"), "utf8")).toBe(list);
  expect((await store.load()).memories).toMatchObject([{ name: "tabs", description: "Prefers tabs: always" }]);
  disk.makeRoom();
  expect(await store.write({ ...draft, description: "Prefers spaces" }, byPerson)).toBe("changed");
  await store.undo("user");
  expect((await store.load()).memories).toMatchObject([{ name: "tabs", description: "Prefers tabs: always" }]);
});

test.skipIf(noDisk !== undefined)(
  "where only MEMORY.md has no room, the change is made and the next one lists it",
  async () => {
    const disk = createSmallDisk("1m");
    const { user, store } = createRig(disk.path);
    for (let at = 0; at < 60; at++) place(user, `m${at}.md`, `---\ndescription: ${"x".repeat(290)}\n---\n`);
    await store.write(draft, byPerson);
    disk.fill(4 * 4096);
    const written = store.write({ ...draft, name: "late" }, byPerson);
    await expect(written).rejects.toMatchObject({
      reason: "DiskFull",
      message: expect.stringContaining("the change is made, but the list of memories is not up to date"),
    });
    const listed = () => readFileSync(join(user, "MEMORY.md"), "utf8").includes("[late]");
    expect((await store.load()).memories.map(({ name }) => name)).toContain("late");
    expect(listed()).toBe(false);
    disk.makeRoom();
    await store.write(draft, byPerson);
    expect(listed()).toBe(true);
  },
);
