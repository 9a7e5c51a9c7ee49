import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defined } from "#base";
import { createSystemClock } from "#world";
import { createSmallDisk, whyNoDisk } from "../../test/fakes/small-disk.ts";
import { openSecret, readCredentialFile } from "./credential-file.ts";
import { type CredentialStore, createCredentialStore, rekeyCredentials } from "./credential-store.ts";
import type { Keychain } from "./keychain.ts";

const KEY = Buffer.alloc(32, 7);
const OTHER_KEY = Buffer.alloc(32, 8);
const SECRET = "sk-test-4f8a1c9e2b7d6053";
const clock = createSystemClock();

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "harness-creds-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return join(path, "config");
}

function storeIn(directory: string, key = KEY, keychain?: Keychain): CredentialStore {
  return createCredentialStore({ directory, clock, key: () => key, ...defined({ keychain }) });
}

function newKey(name = "default", secret = SECRET) {
  const hosts = ["https://api.openai.com"];
  return { provider: "openai", name, hosts, secret: Buffer.from(secret), useKeychain: false };
}

function secretIn(path: string, name: string, key = KEY): string {
  const file = readCredentialFile(path);
  const entry = file?.entries.find((one) => one.name === name);
  if (file === undefined || entry === undefined) throw new Error("not stored");
  return openSecret(file, key, entry).toString();
}

test("a key is stored sealed, in a private file, and only what it is for can be read", async () => {
  const store = storeIn(folder());
  const added = await store.add(newKey());
  expect(added).toMatchObject({ replaced: false, credential: { provider: "openai", name: "default", place: "file" } });
  expect(statSync(store.path).mode & 0o777).toBe(0o600);
  expect(statSync(join(store.path, "..")).mode & 0o777).toBe(0o700);
  expect(readFileSync(store.path, "utf8")).not.toContain(SECRET);
  expect(JSON.stringify(store.list())).not.toContain(SECRET);
  expect(secretIn(store.path, "default")).toBe(SECRET);
  expect(readdirSync(join(store.path, ".."))).toEqual(["creds.enc"]);
});

test("one with the same name is replaced, others stay, and a deleted one is gone", async () => {
  const store = storeIn(folder());
  await store.add(newKey("default", "first-key-value"));
  await store.add(newKey("work"));
  expect(await store.add(newKey())).toMatchObject({ replaced: true });
  expect(store.list().map(({ name }) => name)).toEqual(["work", "default"]);
  expect(await store.remove({ provider: "openai", name: "work" })).toEqual({ removed: true });
  expect(await store.remove({ provider: "openai", name: "work" })).toEqual({ removed: false });
  expect(secretIn(store.path, "default")).toBe(SECRET);
});

test("with another machine key nothing can be read and nothing is written", async () => {
  const directory = folder();
  await storeIn(directory).add(newKey());
  const before = readFileSync(join(directory, "creds.enc"));
  const other = storeIn(directory, OTHER_KEY);
  await expect(other.add(newKey("work"))).rejects.toMatchObject({ reason: "KeyInvalid" });
  await expect(other.remove({ provider: "openai", name: "default" })).rejects.toMatchObject({ reason: "KeyInvalid" });
  expect(() => secretIn(other.path, "default", OTHER_KEY)).toThrow(
    expect.objectContaining({ problem: "wrong-key", message: expect.stringContaining("restore the key file") }),
  );
  expect(() => other.check()).toThrow(expect.objectContaining({ reason: "KeyInvalid" }));
  expect(readFileSync(other.path)).toEqual(before);
  expect(() => storeIn(directory).check()).not.toThrow();
  expect(() => storeIn(folder()).check()).not.toThrow();
});

test("who edits where a key goes gets no key", async () => {
  const store = storeIn(folder());
  await store.add(newKey());
  const edited = readFileSync(store.path, "utf8").replace("https://api.openai.com", "https://elsewhere.example");
  writeFileSync(store.path, edited);
  expect(store.list()[0]?.hosts).toEqual(["https://elsewhere.example"]);
  expect(() => secretIn(store.path, "default")).toThrow(expect.objectContaining({ problem: "damaged" }));
});

test.each([
  ["cut off", (text: string) => text.slice(0, text.length / 2)],
  ["empty", () => ""],
  ["something else", () => '{"format":"other"}'],
  ["an entry without its secret", (text: string) => text.replace(/"sealed": "[^"]*"/, '"sealed": 1')],
])("a file that is %s is told, and not written over", async (_, damage) => {
  const store = storeIn(folder());
  await store.add(newKey());
  const damaged = damage(readFileSync(store.path, "utf8"));
  writeFileSync(store.path, damaged);
  expect(() => store.list()).toThrow(expect.objectContaining({ reason: "CredentialStoreFailed" }));
  await expect(store.add(newKey("work"))).rejects.toMatchObject({ reason: "CredentialStoreFailed" });
  expect(readFileSync(store.path, "utf8")).toBe(damaged);
});

test("a file that others can open is refused with the remedy", async () => {
  const store = storeIn(folder());
  await store.add(newKey());
  chmodSync(store.path, 0o644);
  expect(() => store.list()).toThrow("chmod 600");
});

test("processes that write at once lose nothing", async () => {
  const directory = folder();
  const program = resolve(import.meta.dirname, "../../test/fakes/credential-writer.ts");
  const writers = ["a", "b", "c", "d"].map(
    (name) =>
      new Promise<number | null>((done) => {
        const child = spawn(process.execPath, [program, directory, name, "5"], { stdio: "inherit" });
        child.once("close", done);
      }),
  );
  expect(await Promise.all(writers)).toEqual([0, 0, 0, 0]);
  const names = storeIn(directory)
    .list()
    .map(({ name }) => name);
  expect(names.toSorted()).toEqual(["a", "b", "c", "d"].flatMap((name) => [0, 1, 2, 3, 4].map((n) => `${name}${n}`)));
  expect(readdirSync(directory)).toEqual(["creds.enc"]);
});

test("a draft of a process that was killed goes with the next change: a deleted key is nowhere", async () => {
  const directory = folder();
  const store = storeIn(directory);
  await store.add(newKey());
  for (const name of ["creds.enc.0123456789ab.tmp", "creds.enc.next.0123456789ab.tmp", "creds.enc.old", "notes.tmp"]) {
    writeFileSync(join(directory, name), readFileSync(store.path));
  }
  await store.remove({ provider: "openai", name: "default" });
  expect(readdirSync(directory).toSorted()).toEqual(["creds.enc", "creds.enc.old", "notes.tmp"]);
});

test("a lock of a process that died does not count", async () => {
  const store = storeIn(folder());
  await store.add(newKey());
  writeFileSync(`${store.path}.lock.${encodeURIComponent(`${hostname()}:999999999:1:aa`)}`, "");
  await store.add(newKey("work"));
  expect(store.list()).toHaveLength(2);
});

const noDisk = whyNoDisk();
test.skipIf(noDisk !== undefined)("a full disk is told, and what was stored stays", async () => {
  const disk = createSmallDisk("1m");
  const store = storeIn(join(disk.path, "config"));
  await store.add(newKey());
  const before = readFileSync(store.path);
  disk.fill();
  await expect(store.add(newKey("work"))).rejects.toMatchObject({ reason: "CredentialStoreFailed" });
  expect(readFileSync(store.path)).toEqual(before);
  disk.makeRoom();
  await store.add(newKey("work"));
  expect(store.list()).toHaveLength(2);
});

test("another machine key takes the secrets over", async () => {
  const directory = folder();
  const store = storeIn(directory);
  await store.add(newKey());
  const first = rekeyCredentials({ directory, from: KEY, to: OTHER_KEY });
  expect(secretIn(store.path, "default")).toBe(SECRET);
  first.abandon();
  expect(readdirSync(directory)).toEqual(["creds.enc"]);
  // Cut off, done again, and done once more after it was finished.
  rekeyCredentials({ directory, from: KEY, to: OTHER_KEY });
  rekeyCredentials({ directory, from: KEY, to: OTHER_KEY }).finish();
  rekeyCredentials({ directory, from: KEY, to: OTHER_KEY }).finish();
  expect(secretIn(store.path, "default", OTHER_KEY)).toBe(SECRET);
  expect(rekeyCredentials({ directory, from: KEY, to: KEY })).toMatchObject({ unreadable: true });
});

test("the keychain has the secret when it can, and the file says so when it cannot", async () => {
  const kept = new Map<string, string>();
  const keychain: Keychain = {
    program: "fake",
    async store({ name }, secret) {
      if (name === "locked") return "it is locked";
      kept.set(name, Buffer.from(secret).toString());
      return undefined;
    },
    lookup: async ({ name }) => Buffer.from(kept.get(name) ?? ""),
    remove: async ({ name }) => (kept.delete(name) ? undefined : "not there"),
  };
  const store = storeIn(folder(), KEY, keychain);
  expect(await store.add({ ...newKey(), useKeychain: true })).toMatchObject({ credential: { place: "keychain" } });
  expect(kept.get("default")).toBe(SECRET);
  expect(secretIn(store.path, "default")).toBe("");
  const fallen = await store.add({ ...newKey("locked"), useKeychain: true });
  expect(fallen).toMatchObject({ credential: { place: "file" }, keychainProblem: "it is locked" });
  expect(secretIn(store.path, "locked")).toBe(SECRET);
  expect(await store.remove({ provider: "openai", name: "default" })).toEqual({ removed: true });
  expect(kept.size).toBe(0);
});
