import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { reasonOf } from "../../test/fakes/effect-reason.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { EffectError } from "../base/effect-error.ts";
import type { FilePort } from "../base/ports.ts";
import { createWorkspaceFiles } from "./workspace-files.ts";

const CONTENT = Buffer.from("content");

async function text(files: FilePort, path: string): Promise<string> {
  return Buffer.from(await files.read(path, 1_000_000)).toString("utf8");
}

/** A secret beside the workspace and every kind of link that leads to it. */
function besieged(): TemporaryWorkspace & { files: FilePort } {
  const workspace = createTemporaryWorkspace();
  const { outside, root } = workspace;
  mkdirSync(join(outside, "vault"));
  writeFileSync(join(outside, "vault/secret.txt"), "secret");
  mkdirSync(join(outside, "workspace-two"));
  writeFileSync(join(outside, "workspace-two/secret.txt"), "secret");
  symlinkSync(join(outside, "vault/secret.txt"), join(root, "file-link"));
  symlinkSync("../vault", join(root, "directory-link"));
  symlinkSync(join(outside, "vault/new.txt"), join(root, "dangling-link"));
  symlinkSync("file-link", join(root, "link-to-link"));
  symlinkSync("loop-b", join(root, "loop-a"));
  symlinkSync("loop-a", join(root, "loop-b"));
  return { ...workspace, files: workspace.ports.files };
}

describe("the jail", () => {
  const escapes = [
    "../vault/secret.txt",
    "sub/../../vault/secret.txt",
    "../workspace-two/secret.txt",
    "..",
    "/",
    "/etc/passwd",
    "/etc/passwd/below-a-file",
    "file-link",
    "link-to-link",
    "directory-link/secret.txt",
    "directory-link/new/deeper.txt",
    "dangling-link",
    "nul\0byte",
  ];
  test.each(escapes)("refuses %j in every operation", async (path) => {
    const { files, outside, put } = besieged();
    put("inside.txt", "x");
    const attempts: Record<string, () => Promise<unknown>> = {
      locate: () => files.locate(path),
      stat: () => files.stat(path),
      read: () => files.read(path, 100),
      list: () => files.list(path),
      write: () => files.write(path, CONTENT),
      moveFrom: () => files.move(path, "taken.txt"),
      moveTo: () => files.move("inside.txt", path),
      remove: () => files.remove(path, { recursive: true }),
    };
    const found: Record<string, string> = {};
    for (const [name, attempt] of Object.entries(attempts)) found[name] = await reasonOf(attempt());
    expect(found).toEqual(Object.fromEntries(Object.keys(attempts).map((name) => [name, "OutsideWorkspace"])));
    expect(readFileSync(join(outside, "vault/secret.txt"), "utf8")).toBe("secret");
    expect(readdirSync(join(outside, "vault"))).toEqual(["secret.txt"]);
    expect(readdirSync(join(outside, "workspace-two"))).toEqual(["secret.txt"]);
  });

  test("an absolute path to the sibling with the same prefix is outside, one into the workspace is inside", async () => {
    const { files, outside, root, put } = besieged();
    put("a/b.txt", "x");
    expect(await reasonOf(files.read(join(outside, "workspace-two/secret.txt"), 100))).toBe("OutsideWorkspace");
    expect(await files.locate(join(root, "a/b.txt"))).toBe("a/b.txt");
    expect(await files.locate("../workspace/a/../a/b.txt")).toBe("a/b.txt");
    expect(await files.locate(root)).toBe(".");
  });

  test("links inside the workspace are followed, also to what does not exist yet", async () => {
    const { files, root } = createWithLinks();
    expect(await files.locate("link/file.txt")).toBe("real/file.txt");
    expect(await text(files, "link/file.txt")).toBe("x");
    await files.write("link/new.txt", CONTENT);
    expect(readFileSync(join(root, "real/new.txt"), "utf8")).toBe("content");
    await files.write("later-link", CONTENT);
    expect(readFileSync(join(root, "real/later.txt"), "utf8")).toBe("content");
    expect(await files.stat("link")).toMatchObject({ kind: "directory" });
  });

  test("a loop of links is an error and not a hang", async () => {
    const { files } = besieged();
    expect(await reasonOf(files.read("loop-a", 100))).toBe("AccessDenied");
    expect(await reasonOf(files.write("loop-a", CONTENT))).toBe("AccessDenied");
  });

  test("a root that is itself a link works by both of its names", async () => {
    const { outside, root, put } = createTemporaryWorkspace();
    put("a.txt", "x");
    symlinkSync(root, join(outside, "alias"));
    const files = createWorkspaceFiles(join(outside, "alias"));
    expect(files.root).toBe(root);
    expect(await files.locate(join(outside, "alias/a.txt"))).toBe("a.txt");
    expect(await files.locate(join(root, "a.txt"))).toBe("a.txt");
  });

  test("a missing root, and one that is a file, is refused at once", () => {
    const { put, root } = createTemporaryWorkspace();
    put("file.txt", "x");
    expect(() => createWorkspaceFiles("/does/not/exist")).toThrow(EffectError);
    expect(() => createWorkspaceFiles(join(root, "file.txt"))).toThrow("is not a directory");
  });

  function createWithLinks() {
    const workspace = createTemporaryWorkspace();
    workspace.put("real/file.txt", "x");
    symlinkSync("real", join(workspace.root, "link"));
    symlinkSync("real/later.txt", join(workspace.root, "later-link"));
    return { ...workspace, files: workspace.ports.files };
  }
});

describe.skipIf(process.platform !== "linux")("a swap between check and open", () => {
  const ROUNDS = 400;

  /** Runs in a process of its own: swaps `door` between a real directory and a link to the vault, without a pause. */
  const SWAPPER = `
    const fs = require("node:fs");
    const [door, aside, vault] = process.argv.slice(1);
    for (;;) {
      try {
        fs.renameSync(door, aside);
        fs.symlinkSync(vault, door);
        fs.unlinkSync(door);
        fs.renameSync(aside, door);
      } catch {
        // The other side made a door of its own meanwhile.
        if (!fs.existsSync(aside)) continue;
        fs.rmSync(door, { recursive: true, force: true });
        try { fs.renameSync(aside, door); } catch {}
      }
    }`;

  function startSwapping({ outside, root }: TemporaryWorkspace): { stop(): Promise<void> } {
    const { spawn } = process.getBuiltinModule("node:child_process");
    const paths = [join(root, "door"), join(root, "door-aside"), join(outside, "vault")];
    const child = spawn(process.execPath, ["-e", SWAPPER, ...paths], { stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    return {
      stop() {
        child.kill("SIGKILL");
        return ended;
      },
    };
  }

  test("never reads, writes, lists or removes outside", async () => {
    const workspace = besieged();
    const { files, outside, put } = workspace;
    put("door/secret.txt", "harmless");
    put("door/sub/keep.txt", "harmless");
    const swapping = startSwapping(workspace);
    const seen = new Set<string>();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const attempts = await Promise.allSettled([
          text(files, "door/secret.txt"),
          files.list("door").then((entries) => entries.map((entry) => entry.name).join()),
          files.write("door/written.txt", CONTENT).then(() => "written"),
          files.write("door/made/deep.txt", CONTENT).then(() => "made"),
          files.remove("door/made", { recursive: true }).then(() => "removed"),
        ]);
        for (const attempt of attempts) if (attempt.status === "fulfilled") seen.add(attempt.value);
      }
    } finally {
      await swapping.stop();
    }
    expect(seen).toContain("harmless");
    expect(seen).not.toContain("secret");
    expect(seen).not.toContain("secret.txt");
    expect(readdirSync(join(outside, "vault"))).toEqual(["secret.txt"]);
    expect(readFileSync(join(outside, "vault/secret.txt"), "utf8")).toBe("secret");
  });
});

describe("reading", () => {
  test("gives the bytes, empty files included", async () => {
    const { ports, put } = createTemporaryWorkspace();
    put("a.txt", "héllo");
    put("empty", "");
    expect(await text(ports.files, "a.txt")).toBe("héllo");
    expect(await text(ports.files, "empty")).toBe("");
  });

  test("refuses what is larger than asked, and takes exactly as much", async () => {
    const { ports, put } = createTemporaryWorkspace();
    put("ten", "0123456789");
    expect((await ports.files.read("ten", 10)).length).toBe(10);
    expect(await reasonOf(ports.files.read("ten", 9))).toBe("TooLarge");
  });

  test("names what is wrong", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    const { files } = ports;
    put("file", "x");
    mkdirSync(join(root, "directory"));
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect({
      missing: await reasonOf(files.read("missing", 10)),
      below: await reasonOf(files.read("file/below", 10)),
      directory: await reasonOf(files.read("directory", 10)),
      root: await reasonOf(files.read(".", 10)),
      pipe: await reasonOf(files.read("pipe", 10)),
      listFile: await reasonOf(files.list("file")),
      listMissing: await reasonOf(files.list("missing")),
    }).toEqual({
      missing: "NotFound",
      below: "NotADirectory",
      directory: "NotAFile",
      root: "NotAFile",
      pipe: "NotAFile",
      listFile: "NotADirectory",
      listMissing: "NotFound",
    });
  });

  test("stat tells kind, size and mode, and undefined for what is not there", async () => {
    const { ports, put } = createTemporaryWorkspace();
    chmodSync(put("a.txt", "abc"), 0o640);
    const { modifiedMs, ...info } = (await ports.files.stat("a.txt")) ?? { modifiedMs: 0 };
    expect(info).toEqual({ kind: "file", sizeBytes: 3, mode: 0o640 });
    expect(Math.abs(modifiedMs - Date.now())).toBeLessThan(60_000);
    expect(await ports.files.stat("nothing")).toBeUndefined();
    expect(await ports.files.stat("a.txt/below")).toBeUndefined();
    expect(await ports.files.stat(".")).toMatchObject({ kind: "directory" });
  });

  test("list is sorted by name and tells kinds", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    put("b", "");
    put("a/x", "");
    symlinkSync("b", join(root, "c"));
    expect(await ports.files.list(".")).toEqual([
      { name: "a", kind: "directory" },
      { name: "b", kind: "file" },
      { name: "c", kind: "symlink" },
    ]);
  });
});

describe("writing", () => {
  test("creates parents, replaces content, keeps the mode and leaves no temporary file", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    const script = put("run.sh", "old");
    chmodSync(script, 0o750);
    await ports.files.write("run.sh", CONTENT);
    await ports.files.write("new/deep/file.txt", CONTENT);
    expect(readFileSync(script, "utf8")).toBe("content");
    expect(statSync(script).mode & 0o777).toBe(0o750);
    expect(readdirSync(root)).toEqual(["new", "run.sh"]);
    expect(readdirSync(join(root, "new/deep"))).toEqual(["file.txt"]);
  });

  test("replaces the file and not the bytes behind a hard link to somewhere else", async () => {
    const { ports, outside, root } = createTemporaryWorkspace();
    writeFileSync(join(outside, "original"), "untouched");
    await link(join(outside, "original"), join(root, "linked"));
    await ports.files.write("linked", CONTENT);
    expect(readFileSync(join(outside, "original"), "utf8")).toBe("untouched");
  });

  test("a reader sees the old or the new content, never a part", async () => {
    const { ports, put } = createTemporaryWorkspace();
    const [old, fresh] = ["a".repeat(300_000), "b".repeat(300_000)];
    put("big", old);
    const writes = (async () => {
      for (let round = 0; round < 20; round++) await ports.files.write("big", Buffer.from(round % 2 ? old : fresh));
    })();
    for (let round = 0; round < 40; round++) {
      const seen = await text(ports.files, "big");
      expect(seen === old || seen === fresh).toBe(true);
    }
    await writes;
  });

  test("refuses directories, special and read-only files, and parents that are files", async () => {
    const { ports, put } = createTemporaryWorkspace();
    put("file", "x");
    put("directory/x", "");
    chmodSync(put("locked", "x"), 0o444);
    expect({
      directory: await reasonOf(ports.files.write("directory", CONTENT)),
      root: await reasonOf(ports.files.write(".", CONTENT)),
      below: await reasonOf(ports.files.write("file/below", CONTENT)),
      locked: await reasonOf(ports.files.write("locked", CONTENT)),
    }).toEqual({ directory: "NotAFile", root: "NotAFile", below: "NotADirectory", locked: "AccessDenied" });
  });
});

describe("moving and removing", () => {
  test("moves files, directories and links, parents made", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    put("a.txt", "a");
    put("tree/x", "x");
    symlinkSync("tree/x", join(root, "link"));
    await ports.files.move("a.txt", "new/b.txt");
    await ports.files.move("tree", "new/tree");
    await ports.files.move("link", "moved-link");
    expect(readFileSync(join(root, "new/b.txt"), "utf8")).toBe("a");
    expect(readFileSync(join(root, "new/tree/x"), "utf8")).toBe("x");
    expect(readdirSync(root)).toEqual(["moved-link", "new"]);
  });

  test("never overwrites, and refuses the impossible", async () => {
    const { ports, put } = createTemporaryWorkspace();
    put("a", "a");
    put("b", "b");
    put("d/x", "");
    put("empty/x", "");
    await ports.files.remove("empty/x", { recursive: false });
    expect({
      file: await reasonOf(ports.files.move("a", "b")),
      overDirectory: await reasonOf(ports.files.move("a", "d")),
      overEmpty: await reasonOf(ports.files.move("d", "empty")),
      missing: await reasonOf(ports.files.move("nothing", "c")),
      intoItself: await reasonOf(ports.files.move("d", "d/e")),
      root: await reasonOf(ports.files.move(".", "c")),
    }).toEqual({
      file: "AlreadyExists",
      overDirectory: "AlreadyExists",
      overEmpty: "AlreadyExists",
      missing: "NotFound",
      intoItself: "AccessDenied",
      root: "NotAFile",
    });
    expect(await text(ports.files, "b")).toBe("b");
  });

  test("removes a link and not what it points to", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    put("kept/x", "x");
    mkdirSync(join(root, "gone"));
    symlinkSync("../kept", join(root, "gone/link"));
    await ports.files.remove("gone", { recursive: true });
    expect(existsSync(join(root, "gone"))).toBe(false);
    expect(readdirSync(join(root, "kept"))).toEqual(["x"]);
  });

  test("a full directory needs recursive, the root is never removed, the missing is said", async () => {
    const { ports, put, root } = createTemporaryWorkspace();
    put("full/deep/x", "x");
    expect({
      full: await reasonOf(ports.files.remove("full", { recursive: false })),
      root: await reasonOf(ports.files.remove(".", { recursive: true })),
      missing: await reasonOf(ports.files.remove("nothing", { recursive: true })),
    }).toEqual({ full: "NotEmpty", root: "AccessDenied", missing: "NotFound" });
    await ports.files.remove("full", { recursive: true });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe("a path of very many parts", () => {
  test("is located at once when it is not there, also behind a link that leads nowhere", async () => {
    const { root, ports } = createTemporaryWorkspace();
    mkdirSync(join(root, "x"));
    symlinkSync("../nowhere/yet", join(root, "x", "link"));
    const deep = `${"a/".repeat(1900)}b`;
    const computedMs = computingTime();
    for (let times = 0; times < 20; times++) expect(await ports.files.locate(deep)).toBe(deep);
    expect(await ports.files.locate(`x/link/${deep}`)).toBe(`nowhere/yet/${deep}`);
    // It took half a second each when every part was looked at.
    expect(computedMs()).toBeLessThan(2_000);
  });

  test("is not there when it is too long for the system, and outside it is outside", async () => {
    const { ports } = createTemporaryWorkspace();
    await expect(ports.files.locate("a/".repeat(15_000))).rejects.toMatchObject({ reason: "NotFound" });
    await expect(ports.files.locate(`/${"a/".repeat(15_000)}`)).rejects.toMatchObject({ reason: "OutsideWorkspace" });
  });
});
