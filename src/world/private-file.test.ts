import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createPrivateFile,
  makePrivateDirectory,
  readOwnedFile,
  readPrivateFile,
  rewritePrivateFile,
  writePrivateFile,
} from "./private-file.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "harness-private-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("names the file that was meant when it cannot be written", () => {
  const path = join(folder(), "taken");
  makePrivateDirectory(path);
  expect(() => writePrivateFile(path, "one", { durable: false })).toThrow(expect.objectContaining({ path }));
});

test("is written whole, for its owner alone, and leaves nothing beside it", () => {
  const directory = join(folder(), "a/b");
  makePrivateDirectory(directory);
  const path = join(directory, "file");
  writePrivateFile(path, "one", { durable: true });
  writePrivateFile(path, Buffer.from("two"), { durable: false });
  expect(readPrivateFile(path)?.toString()).toBe("two");
  expect([statSync(directory).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(directory)).toEqual(["file"]);
  expect(readPrivateFile(join(directory, "none"))).toBeUndefined();
});

test("is written anew in its place only when it is there and ours", () => {
  const directory = folder();
  const path = join(directory, "file");
  expect(rewritePrivateFile(path, "none")).toBe(false);
  writePrivateFile(path, "longer", { durable: false });
  const { ino } = statSync(path);
  expect(rewritePrivateFile(path, "new")).toBe(true);
  expect([readPrivateFile(path)?.toString(), statSync(path).ino]).toEqual(["new", ino]);
  symlinkSync(path, join(directory, "link"));
  expect(rewritePrivateFile(join(directory, "link"), "through")).toBe(false);
  chmodSync(path, 0o644);
  expect(rewritePrivateFile(path, "open")).toBe(false);
  expect(readPrivateFile(path)?.toString()).toBe("new");
});

test("that has to be believed is read only when nobody else could have written it", () => {
  const directory = folder();
  const path = join(directory, "file");
  expect(readOwnedFile(path, 10)).toBeUndefined();
  writePrivateFile(path, "one", { durable: false });
  expect(readOwnedFile(path, 10)?.toString()).toBe("one");
  expect(() => readOwnedFile(path, 2)).toThrow("it has more than 2 bytes");
  expect(() => readOwnedFile(directory, 10)).toThrow("it is not a regular file");
  chmodSync(path, 0o620);
  expect(() => readOwnedFile(path, 10)).toThrow("others can reach it");
  symlinkSync(path, join(directory, "link"));
  expect(() => readOwnedFile(join(directory, "link"), 10)).toThrow("ELOOP");
});

test("of two that make a file the first wins, and neither leaves a draft", () => {
  const path = join(folder(), "key");
  expect(createPrivateFile(path, "one")).toBe(true);
  expect(createPrivateFile(path, "two")).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("one");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(["key"]);
});
