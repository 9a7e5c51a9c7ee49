import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reasonOf } from "../../test/fakes/effect-reason.ts";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createWorkspaceRestore } from "./workspace-restore.ts";

const CONTENT = Buffer.from("content");

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o7777;
}

test("inspects each kind of entry without following a link", async () => {
  const { root, put } = createTemporaryWorkspace();
  chmodSync(put("a/file.txt", "content"), 0o640);
  symlinkSync("file.txt", join(root, "a/link"));
  chmodSync(join(root, "a"), 0o750);
  const port = createWorkspaceRestore(root);
  const { mtimeNs } = lstatSync(join(root, "a/file.txt"), { bigint: true });
  expect(await port.inspect("a/file.txt", 7)).toEqual({ kind: "file", mode: 0o640, mtimeNs, content: CONTENT });
  expect(await port.inspect("a/file.txt", 6)).toEqual({ kind: "file", mode: 0o640, mtimeNs });
  expect(await port.inspect("a/link", 100)).toEqual({
    kind: "symlink",
    target: "file.txt",
    mtimeNs: expect.any(BigInt),
  });
  expect(await port.inspect("a", 100)).toEqual({ kind: "directory", mode: 0o750 });
  expect(await port.inspect("a/none", 100)).toBeUndefined();
  expect(await port.inspect("a/file.txt/below", 100)).toBeUndefined();
  expect([...(await port.names("a"))].sort()).toEqual(["file.txt", "link"]);
});

test("puts files, links and directories back, with their modes", async () => {
  const { root, put } = createTemporaryWorkspace();
  put("file.txt", "new");
  symlinkSync("nowhere", join(root, "was-file"));
  const port = createWorkspaceRestore(root);
  await port.putFile("file.txt", CONTENT, 0o755);
  await port.putFile("was-file", CONTENT, 0o600);
  await port.putSymlink("link", "file.txt");
  await port.makeDirectory("directory", 0o711);
  await port.setMode("file.txt", 0o444);
  expect(readFileSync(join(root, "file.txt"), "utf8")).toBe("content");
  expect(modeOf(join(root, "file.txt"))).toBe(0o444);
  expect(lstatSync(join(root, "was-file")).isFile()).toBe(true);
  expect(readlinkSync(join(root, "link"))).toBe("file.txt");
  expect(modeOf(join(root, "directory"))).toBe(0o711);
  expect(readdirSync(root).sort()).toEqual(["directory", "file.txt", "link", "was-file"]);
});

test("removes entries and empty directories, and nothing that holds something", async () => {
  const { root, put } = createTemporaryWorkspace();
  put("full/file.txt", "x");
  mkdirSync(join(root, "empty"));
  const port = createWorkspaceRestore(root);
  expect(await reasonOf(port.removeDirectory("full"))).toBe("NotEmpty");
  expect(await reasonOf(port.removeEntry("full"))).toBe("NotAFile");
  await port.removeDirectory("empty");
  await port.removeEntry("full/file.txt");
  expect(existsSync(join(root, "empty"))).toBe(false);
  expect(readdirSync(join(root, "full"))).toEqual([]);
});

test("cannot be led outside: not by a path, not through a link", async () => {
  const { outside, root } = createTemporaryWorkspace();
  mkdirSync(join(outside, "vault"));
  writeFileSync(join(outside, "vault/secret.txt"), "secret", { mode: 0o600 });
  symlinkSync("../vault", join(root, "door"));
  symlinkSync("../vault/secret.txt", join(root, "file-door"));
  const port = createWorkspaceRestore(root);
  const paths = ["../vault/secret.txt", join(outside, "vault/secret.txt"), "door/secret.txt", "a/../../vault/x", "."];
  for (const path of paths) {
    const attempts = [
      port.inspect(path, 100),
      port.putFile(path, CONTENT, 0o644),
      port.putSymlink(path, "x"),
      port.makeDirectory(path, 0o755),
      port.setMode(path, 0o777),
      port.removeEntry(path),
      port.removeDirectory(path),
    ];
    expect(await Promise.all(attempts.map(reasonOf)), path).toEqual(attempts.map(() => "OutsideWorkspace"));
  }
  // The link itself may be replaced or removed; its mode would be that of what it points to.
  expect(await reasonOf(port.setMode("file-door", 0o777))).toBe("OutsideWorkspace");
  await port.putFile("file-door", CONTENT, 0o644);
  expect(readFileSync(join(outside, "vault/secret.txt"), "utf8")).toBe("secret");
  expect(modeOf(join(outside, "vault/secret.txt"))).toBe(0o600);
});
