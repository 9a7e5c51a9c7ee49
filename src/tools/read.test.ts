import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createTemporaryWorkspace,
  createToolContext,
  type TemporaryWorkspace,
} from "../../test/fakes/temporary-workspace.ts";
import { readTool } from "./read.ts";

function read(workspace: TemporaryWorkspace, args: Record<string, unknown>) {
  return readTool.run(args, createToolContext(workspace.ports));
}

async function readText(workspace: TemporaryWorkspace, args: Record<string, unknown>): Promise<string> {
  const [block] = (await read(workspace, args)).content;
  return block?.type === "text" ? block.text : "no text";
}

describe("text", () => {
  test("comes with line numbers, without line endings", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a.txt", "one\r\n\ntrès\n");
    expect(await read(workspace, { path: "a.txt" })).toEqual({
      content: [{ type: "text", text: "     1\tone\n     2\t\n     3\ttrès" }],
    });
  });

  test("is read in pages that say how to go on", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("five.txt", "1\n2\n3\n4\n5\n");
    expect(await readText(workspace, { path: "five.txt", offset: 2, limit: 2 })).toBe(
      "     2\t2\n     3\t3\n[lines 2-3 of 5; next page: offset=4]",
    );
    expect(await readText(workspace, { path: "five.txt", offset: 4 })).toBe("     4\t4\n     5\t5");
    await expect(read(workspace, { path: "five.txt", offset: 6 })).rejects.toThrow("has 5 lines");
    await expect(read(workspace, { path: "five.txt", offset: 0 })).rejects.toMatchObject({
      reason: "InvalidArguments",
    });
  });

  test("has at most 2,000 lines a page, also when more are asked for", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("long.txt", "x\n".repeat(2_500));
    const lines = (await readText(workspace, { path: "long.txt", limit: 9_000 })).split("\n");
    expect(lines.length).toBe(2_001);
    expect(lines.at(-1)).toBe("[lines 1-2000 of 2500; next page: offset=2001]");
  });

  test("has at most about 100 KB a page and 2,000 characters a line", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("wide.txt", `${"w".repeat(5_000)}\n`.repeat(200));
    const text = await readText(workspace, { path: "wide.txt" });
    expect(text.length).toBeLessThan(103_000);
    expect(text.split("\n")[0]).toBe(`     1\t${"w".repeat(1_000)}… [4000 more characters]`);
    expect(text).toMatch(/next page: offset=\d+\]$/);
  });

  test("cuts a long line in front of a word, so that nobody takes half a secret for anything else", async () => {
    const workspace = createTemporaryWorkspace();
    const secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";
    for (let at = 1; at < secret.length; at++) {
      workspace.put(
        "a.json",
        `{"a":"${"w ".repeat(1_000).slice(0, 1_994 - at)}","b":"${secret}","c":"${"w ".repeat(100)}"}`,
      );
      expect(await readText(workspace, { path: "a.json" })).not.toContain("ghp_");
    }
  });

  test("of one huge line gives its beginning", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("min.js", "x".repeat(1_000_000));
    expect((await readText(workspace, { path: "min.js" })).length).toBeLessThan(2_100);
  });
});

describe("what is no text", () => {
  const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

  test.each([
    ["image/png", PNG],
    ["image/jpeg", Buffer.from("ffd8ffe000104a46", "hex")],
    ["image/gif", Buffer.from("GIF89a....")],
    ["image/webp", Buffer.from("RIFF\x01\x02\x03\x04WEBPVP8 ", "latin1")],
  ])("%s comes as an image block", async (mediaType, bytes) => {
    const workspace = createTemporaryWorkspace();
    workspace.put("picture", bytes);
    expect(await read(workspace, { path: "picture" })).toEqual({
      content: [{ type: "image", media_type: mediaType, data: bytes.toString("base64") }],
    });
  });

  test("an image that is too large is refused", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("big.png", Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]));
    await expect(read(workspace, { path: "big.png" })).rejects.toThrow("image (image/png) of 5.0 MB; at most 5.0 MB");
  });

  test.each([
    ["nul.bin", Buffer.from("abc\0def"), "binary data, 7 B"],
    ["latin.txt", Buffer.from("caf\xe9", "latin1"), "not valid UTF-8, 4 B"],
    ["doc.pdf", Buffer.from("%PDF-1.7\n\0"), "PDF document, 10 B"],
    ["utf16.txt", Buffer.from("\xff\xfea\0", "latin1"), "UTF-16 text, 4 B"],
  ])("%s is refused with kind and size", async (name, bytes, told) => {
    const workspace = createTemporaryWorkspace();
    workspace.put(name, bytes);
    await expect(read(workspace, { path: name })).rejects.toThrow(told);
  });

  test("an empty file, a directory and a file that is too large are named", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("empty", "");
    workspace.put("huge", Buffer.alloc(16 * 1024 * 1024 + 1, "x"));
    mkdirSync(join(workspace.root, "folder"));
    expect(await readText(workspace, { path: "empty" })).toBe("empty is empty.");
    await expect(read(workspace, { path: "folder" })).rejects.toThrow("is a directory; list it with fs.list");
    await expect(read(workspace, { path: "huge" })).rejects.toThrow("Search it with fs.search");
  });
});

describe("a missing file", () => {
  test("brings near names of its folder", async () => {
    const workspace = createTemporaryWorkspace();
    for (const name of ["src/Session.ts", "src/sessions.ts", "src/other.md"]) workspace.put(name, "x");
    await expect(read(workspace, { path: "src/session.ts" })).rejects.toThrow(
      "src/session.ts does not exist. Did you mean src/Session.ts or src/sessions.ts?",
    );
    await expect(read(workspace, { path: "src/zzz" })).rejects.toThrow(/^src\/zzz does not exist\.$/);
    await expect(read(workspace, { path: "nowhere/a.ts" })).rejects.toThrow(
      "The directory nowhere does not exist either.",
    );
  });

  test("outside stays outside", async () => {
    const workspace = createTemporaryWorkspace();
    symlinkSync("/etc", join(workspace.root, "etc"));
    await expect(read(workspace, { path: "etc/passwd" })).rejects.toMatchObject({ reason: "OutsideWorkspace" });
    await expect(read(workspace, { path: "../x" })).rejects.toMatchObject({ reason: "OutsideWorkspace" });
  });
});
