import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKeyFiles, type KeyKeychain } from "./key-files.ts";
import { deriveKey, machineKey, machineKeySource, parseKey, resolveMachineKey } from "./machine-key.ts";

const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => 255 - i * 3));
let directory: string;
let env: Record<string, string>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-key-"));
  env = { XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory, XDG_STATE_HOME: directory };
});
afterEach(() => rmSync(directory, { recursive: true }));

const invalid = (message: RegExp) =>
  expect.objectContaining({ reason: "KeyInvalid", message: expect.stringMatching(message) });
const noFiles = (): never => {
  throw new Error("no file is needed");
};

describe("a key from the environment", () => {
  it("is taken as it is, as hex, or as base64 of either alphabet, padded or not", () => {
    const base64 = bytes.toString("base64");
    const spellings = [
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      base64,
      base64.replace("=", ""),
      bytes.toString("base64url"),
      `${bytes.toString("base64url")}=`,
    ];
    expect(base64).toMatch(/[+/]/);
    for (const text of spellings) expect(parseKey(text)).toEqual(bytes);
    expect(parseKey("0123456789abcdef0123456789abcdef")).toEqual(Buffer.from("0123456789abcdef0123456789abcdef"));
    expect(parseKey("é".repeat(16))).toHaveLength(32);
  });

  it.each([
    "",
    "short",
    "x".repeat(31),
    "x".repeat(33),
    "0".repeat(63),
    "g".repeat(64),
    `${"0".repeat(64)}\n`,
    `${"A".repeat(42)}B`,
    `${"A".repeat(43)}==`,
    `${"+".repeat(20)}${"-".repeat(23)}`,
    `${"x".repeat(29)}\ufffd`,
  ])("is refused without being repeated: %j", (text) => {
    const attempt = () => resolveMachineKey({ HARNESS_MACHINE_KEY: text, HARNESS_PASSPHRASE: "good enough" }, noFiles);
    expect(attempt).toThrow(invalid(/^HARNESS_MACHINE_KEY is not a key: .*openssl/));
    if (text.length > 4) expect(attempt).not.toThrow(text);
  });

  it("beats a passphrase and needs no home", () => {
    const key = machineKey({ HARNESS_MACHINE_KEY: bytes.toString("hex"), HARNESS_PASSPHRASE: "other" });
    expect(key).toEqual({ bytes, source: "HARNESS_MACHINE_KEY" });
  });
});

describe("a passphrase", () => {
  it("gives the same key again on this machine, and another one elsewhere", () => {
    const key = machineKey({ ...env, HARNESS_PASSPHRASE: "correct horse" });
    expect(machineKey({ ...env, HARNESS_PASSPHRASE: "correct horse" })).toEqual(key);
    expect(machineKey({ ...env, HARNESS_PASSPHRASE: "correct house" }).bytes).not.toEqual(key.bytes);
    expect(key.bytes).toHaveLength(32);
    const salt = join(directory, "harness", "passphrase.salt");
    expect(statSync(salt).mode & 0o777).toBe(0o600);
    rmSync(salt);
    expect(machineKey({ ...env, HARNESS_PASSPHRASE: "correct horse" }).bytes).not.toEqual(key.bytes);
  });

  it("is refused when it is empty", () => {
    expect(() => machineKey({ ...env, HARNESS_PASSPHRASE: "" })).toThrow(invalid(/HARNESS_PASSPHRASE is empty/));
  });

  it("is worked out once by one source", () => {
    const source = machineKeySource({ ...env, HARNESS_PASSPHRASE: "correct horse" });
    expect(source()).toBe(source());
  });
});

describe("the key file", () => {
  const file = () => join(directory, "harness", "machine.key");

  it("is made once, private, with nothing left beside it", () => {
    const key = machineKey(env);
    expect(key).toEqual({ bytes: readFileSync(file()), source: file() });
    expect(key.bytes).toHaveLength(32);
    expect(machineKey(env)).toEqual(key);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, "harness")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(directory, "harness"))).toEqual(["machine.key"]);
  });

  it("is the one of the process that was first", () => {
    const first = createKeyFiles(join(directory, "harness"), { draw: (length) => Buffer.alloc(length, 1) });
    const files = createKeyFiles(join(directory, "harness"), {
      draw(length) {
        first.readOrCreate("machine.key", length);
        return Buffer.alloc(length, 2);
      },
    });
    expect(files.readOrCreate("machine.key", 32).bytes).toEqual(Buffer.alloc(32, 1));
    expect(readdirSync(join(directory, "harness"))).toEqual(["machine.key"]);
  });

  it("is refused with the remedy when others can read it, and left alone", () => {
    machineKey(env);
    const before = readFileSync(file());
    chmodSync(file(), 0o640);
    expect(() => machineKey(env)).toThrow(invalid(/mode 0640.*chmod 600/));
    expect(readFileSync(file())).toEqual(before);
  });

  it.each([0, 31, 33, 64])("is refused when it has %i bytes", (length) => {
    machineKey(env);
    writeFileSync(file(), Buffer.alloc(length));
    expect(() => machineKey(env)).toThrow(invalid(new RegExp(`has ${length} bytes instead of 32`)));
  });

  it("is refused when it cannot be made", () => {
    writeFileSync(join(directory, "harness"), "a file where the folder should be");
    expect(() => machineKey(env)).toThrow(invalid(/machine\.key cannot be used: /));
  });

  it("waits for a rotation to be finished", () => {
    machineKey(env);
    writeFileSync(`${file()}.next`, Buffer.alloc(32), { mode: 0o600 });
    expect(() => machineKey(env)).toThrow(invalid(/interrupted.*harness sessions rekey/));
  });
});

it("derives another key for each purpose", () => {
  const key = { bytes, source: "x" };
  expect(deriveKey(key, "undo")).toEqual(deriveKey(key, "undo"));
  expect(deriveKey(key, "undo")).toHaveLength(32);
  expect(deriveKey(key, "undo")).not.toEqual(deriveKey(key, "signing"));
  expect(deriveKey(key, "undo")).not.toEqual(bytes);
});

describe("a key in the keychain", () => {
  function openKeychain(broken: Partial<KeyKeychain> = {}) {
    const entries = new Map<string, Buffer>();
    const keychain: KeyKeychain = {
      name: "the keychain",
      takesNew: true,
      store: (name, key) => void entries.set(name, Buffer.from(key)),
      lookup: (name) => entries.get(name) ?? "it has no such entry",
      remove: (name) => void entries.delete(name),
      ...broken,
    };
    const folder = join(directory, "harness");
    const make = (draw?: (length: number) => Buffer) => createKeyFiles(folder, { keychain, ...(draw && { draw }) });
    return { entries, make, stored: () => readFileSync(join(folder, "machine.key")) };
  }

  it("leaves only the name of its entry on the disk, is found again, and goes with its file", () => {
    const { entries, make, stored } = openKeychain();
    const { bytes: key, place } = make().readOrCreateKey("machine.key", 32);
    expect(place).toBe("the keychain");
    expect([...entries.values()]).toEqual([key]);
    expect(stored().toString()).toBe(`in the keychain: ${[...entries.keys()][0]}\n`);
    expect(make().readOrCreateKey("machine.key", 32).bytes).toEqual(key);
    const next = make().readOrCreateKey("machine.key.next", 32).bytes;
    expect(next).not.toEqual(key);
    make().replace("machine.key", "machine.key.next");
    expect(make().readOrCreateKey("machine.key", 32).bytes).toEqual(next);
    expect([...entries.values()]).toEqual([next]);
    make().remove("machine.key");
    expect(entries.size).toBe(0);
  });

  it.each<[string, Partial<KeyKeychain>]>([
    ["refuses it", { store: () => "locked" }],
    ["gives something else back", { lookup: () => Buffer.alloc(32, 9) }],
    ["gives nothing back", { lookup: () => "gone" }],
    ["is not to have new ones", { takesNew: false }],
  ])("is in a file where the keychain %s", (_how, broken) => {
    const { make, entries, stored } = openKeychain(broken);
    const { bytes: key, place } = make().readOrCreateKey("machine.key", 32);
    expect([key, place]).toEqual([stored(), join(directory, "harness", "machine.key")]);
    expect(entries.size).toBe(0);
  });

  it("is never replaced by a new one when the keychain does not give it", () => {
    const { make, entries, stored } = openKeychain();
    make().readOrCreateKey("machine.key", 32);
    const before = stored();
    entries.clear();
    expect(() => make().readOrCreateKey("machine.key", 32)).toThrow(
      invalid(/in the system keychain.*no such entry.*Unlock/),
    );
    expect(stored()).toEqual(before);
  });

  it("leaves a key alone that is in a file, and of two that are made at once keeps one entry", () => {
    const { make, entries } = openKeychain();
    const other = make();
    const late = make((length) => {
      other.readOrCreateKey("machine.key", length);
      return Buffer.alloc(length, 2);
    });
    expect(late.readOrCreateKey("machine.key", 32)).toEqual(other.readOrCreateKey("machine.key", 32));
    expect(entries.size).toBe(1);
    writeFileSync(join(directory, "harness", "old.key"), bytes, { mode: 0o600 });
    expect(make().readOrCreateKey("old.key", 32).bytes).toEqual(bytes);
    expect(entries.size).toBe(1);
  });
});
