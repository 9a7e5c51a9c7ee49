import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hideFiles } from "./hidden-files.ts";
import type { FilePort } from "./ports.ts";
import { createWorkspaceFiles } from "./workspace-files.ts";

function createFiles(): { readonly root: string; readonly files: FilePort } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-hidden-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "state/harness"), { recursive: true });
  writeFileSync(join(root, "state/harness/token"), "secret");
  writeFileSync(join(root, "token"), "secret");
  writeFileSync(join(root, "token2"), "plain");
  symlinkSync("state", join(root, "link"));
  return { root, files: createWorkspaceFiles(root) };
}

const denied = { reason: "AccessDenied", message: expect.stringContaining("belongs to the harness itself") };

test("nothing below a hidden path is reached, by any name or tool, and everything else is", async () => {
  const { root, files } = createFiles();
  const rest = hideFiles(files, [join(root, "state/harness"), join(root, "link/later"), join(root, "token"), "/etc"]);
  expect(rest.hidden).toEqual(["state/harness", "state/later", "token"]);
  for (const path of ["token", "./state/../token", "state/harness/token", "link/harness/token", join(root, "token")]) {
    await expect(rest.read(path, 100)).rejects.toMatchObject(denied);
    await expect(rest.stat(path)).rejects.toMatchObject(denied);
    await expect(rest.write(path, Buffer.from("x"))).rejects.toMatchObject(denied);
    await expect(rest.remove(path, { recursive: false })).rejects.toMatchObject(denied);
    await expect(rest.move(path, "elsewhere")).rejects.toMatchObject(denied);
  }
  await expect(rest.list("state/harness")).rejects.toMatchObject(denied);
  await expect(rest.makeDirectory("state/harness/new")).rejects.toMatchObject(denied);
  await expect(rest.write("link/later", Buffer.from("x"))).rejects.toMatchObject(denied);
  await expect(rest.move("state", "other")).rejects.toMatchObject(denied);
  await expect(rest.move("token2", "state/harness/new")).rejects.toMatchObject(denied);
  await expect(rest.remove("state", { recursive: true })).rejects.toMatchObject(denied);
  expect(Buffer.from(await rest.read("token2", 100)).toString()).toBe("plain");
  await rest.write("state/other", Buffer.from("x"));
  await rest.move("token2", "token3");
});

test("a workspace that holds none of them is left as it is", () => {
  const { files } = createFiles();
  expect(hideFiles(files, ["/etc", join(files.root, "..", "other"), files.root])).toBe(files);
});
