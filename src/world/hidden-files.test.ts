import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EffectError } from "../base/effect-error.ts";
import { createWorkspaceFiles } from "./workspace-files.ts";

function createFiles(): { readonly root: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-hidden-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "state/harness"), { recursive: true });
  writeFileSync(join(root, "state/harness/token"), "secret");
  writeFileSync(join(root, "token"), "secret");
  writeFileSync(join(root, "token2"), "plain");
  symlinkSync("state", join(root, "link"));
  return { root };
}

const ROUNDS = 300;
/** Two links, each replaced in one step, over and over: to what is for everybody and to what is hidden. Ends by itself. */
const SWAP = `
  const fs = require("node:fs");
  process.chdir(process.argv[1]);
  const swap = (name, target) => { fs.symlinkSync(target, "next"); fs.renameSync("next", name); };
  const untilMs = Date.now() + 120_000;
  for (let round = 0; Date.now() < untilMs; round++) {
    swap("file", round % 2 ? "token" : "plain");
    swap("folder", round % 2 ? "state/harness" : "open");
    if (round === 0) fs.writeSync(1, "swapping");
  }`;

const denied = { reason: "AccessDenied", message: expect.stringContaining("belongs to Harness itself") };

test("nothing below a hidden path is reached, by any name or tool, and everything else is", async () => {
  const { root } = createFiles();
  const rest = createWorkspaceFiles(root, [
    join(root, "state/harness"),
    join(root, "link/later"),
    join(root, "token"),
    "/etc",
  ]);
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
  // On a disk that takes these for the same name they would be the same file.
  for (const path of ["Token", "STATE/harness/token", "link/HARNESS/token", "ſtate/harness/token", "to\u212aen"]) {
    await expect(rest.read(path, 100)).rejects.toMatchObject(denied);
    await expect(rest.write(path, Buffer.from("x"))).rejects.toMatchObject(denied);
  }
  expect(Buffer.from(await rest.read("token2", 100)).toString()).toBe("plain");
  await rest.write("state/other", Buffer.from("x"));
  await rest.move("token2", "token3");
});

test("what is outside, or the workspace itself, hides nothing in it", () => {
  const { root } = createFiles();
  expect(createWorkspaceFiles(root, ["/etc", join(root, "..", "other"), root]).hidden).toEqual([]);
});

test("a link that is swapped all the time never leads to a hidden file", async () => {
  const { root } = createFiles();
  mkdirSync(join(root, "open"));
  for (const path of ["plain", "open/token"]) writeFileSync(join(root, path), "for everybody");
  writeFileSync(join(root, "state/harness/more"), "");
  const rest = createWorkspaceFiles(root, [join(root, "state/harness"), join(root, "token")]);
  const swapper = spawn(process.execPath, ["-e", SWAP, root], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  await once(swapper.stdout, "data");

  const seen = new Set<unknown>();
  const see = async (what: Promise<unknown>): Promise<void> => {
    seen.add(
      await what.catch((error: unknown) => {
        if (error instanceof EffectError) return error.reason;
        throw error;
      }),
    );
  };
  const text = async (path: string) => Buffer.from(await rest.read(path, 100)).toString();
  const all = new Set<unknown>(["for everybody", "for everybody".length, 1, "AccessDenied"]);
  for (let round = 0; round < ROUNDS || !all.isSubsetOf(seen); round++) {
    for (const path of ["file", "folder/token"]) {
      await see(text(path));
      await see(rest.stat(path).then((info) => info?.sizeBytes));
    }
    await see(rest.list("folder").then((entries) => entries.length));
  }
  // A link that changes too often while it is opened is taken for one that leads outside.
  seen.delete("OutsideWorkspace");
  expect(seen).toEqual(all);
});
