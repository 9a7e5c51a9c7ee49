import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Tool } from "#engine";
import {
  createTemporaryWorkspace,
  createToolContext,
  type TemporaryWorkspace,
} from "../../test/fakes/temporary-workspace.ts";
import { listTool } from "./list.ts";
import { moveTool } from "./move.ts";
import { removeTool } from "./remove.ts";
import { writeTool } from "./write.ts";

async function run(tool: Tool, workspace: TemporaryWorkspace, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await tool.run(args, createToolContext(workspace.ports));
  const [block] = content;
  return block?.type === "text" && !isError ? block.text : "no plain text";
}

describe("fs.write", () => {
  test("tells what it did and how much it wrote", async () => {
    const workspace = createTemporaryWorkspace();
    expect(await run(writeTool, workspace, { path: "new/a.txt", content: "å\nb\n" })).toBe(
      "Created new/a.txt (2 lines, 5 bytes).",
    );
    expect(await run(writeTool, workspace, { path: "new/a.txt", content: "x" })).toBe(
      "Overwrote new/a.txt (1 line, 1 bytes).",
    );
    expect(readFileSync(join(workspace.root, "new/a.txt"), "utf8")).toBe("x");
  });

  test("does not put the marks of redaction over what they stand for", async () => {
    const workspace = createTemporaryWorkspace();
    const file = workspace.put("app.env", "HOST=a\nTOKEN=s3cret\n");
    const shown = "HOST=b\nTOKEN=«redacted:api-token»\n";
    await expect(run(writeTool, workspace, { path: "app.env", content: shown })).rejects.toThrow(
      "app.env was not changed: the text holds «redacted:api-token», which is not in the file.",
    );
    await expect(run(writeTool, workspace, { path: "copy.env", content: shown })).rejects.toThrow("fs.edit");
    expect(readFileSync(file, "utf8")).toBe("HOST=a\nTOKEN=s3cret\n");
    expect(existsSync(join(workspace.root, "copy.env"))).toBe(false);

    // A page about redaction can be written again, with as many marks as it had.
    workspace.put("page.md", "A mark: «redacted:jwt».\n");
    await run(writeTool, workspace, { path: "page.md", content: "The mark: «redacted:jwt».\n" });
    const twice = "One «redacted:jwt», two «redacted:jwt».\n";
    await expect(run(writeTool, workspace, { path: "page.md", content: twice })).rejects.toThrow("not changed");
  });

  test("does not write outside", async () => {
    const workspace = createTemporaryWorkspace();
    const write = run(writeTool, workspace, { path: "../escape.txt", content: "x" });
    await expect(write).rejects.toMatchObject({ reason: "OutsideWorkspace" });
    expect(existsSync(join(workspace.outside, "escape.txt"))).toBe(false);
  });
});

describe("fs.list", () => {
  test("shows directories first, sizes, and links without following them", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a.txt", "x".repeat(1_536));
    workspace.put("z/inner", "");
    symlinkSync("/etc", join(workspace.root, "etc"));
    expect(await run(listTool, workspace, {})).toBe("z/\na.txt (1.5 KB)\netc (link)");
    expect(await run(listTool, workspace, { path: "z" })).toBe("inner (0 B)");
  });

  test("says empty, file and missing, and shows at most 500", async () => {
    const workspace = createTemporaryWorkspace();
    mkdirSync(join(workspace.root, "empty"));
    for (let index = 0; index < 503; index++) workspace.put(`many/${index}`, "");
    expect(await run(listTool, workspace, { path: "empty" })).toBe("empty is empty.");
    const lines = (await run(listTool, workspace, { path: "many" })).split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([501, "[3 more entries; use fs.glob]"]);
    await expect(run(listTool, workspace, { path: "many/1" })).rejects.toThrow("is a file; read it with fs.read");
    await expect(run(listTool, workspace, { path: "mny" })).rejects.toThrow("Did you mean many?");
  });
});

describe("fs.move", () => {
  test("moves, and refuses to overwrite", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a", "a");
    workspace.put("b", "b");
    await expect(run(moveTool, workspace, { from: "a", to: "b" })).rejects.toMatchObject({ reason: "AlreadyExists" });
    expect(await run(moveTool, workspace, { from: "a", to: "c/d" })).toBe("Moved a to c/d.");
    expect(readFileSync(join(workspace.root, "c/d"), "utf8")).toBe("a");
    await expect(run(moveTool, workspace, { from: "gone", to: "x" })).rejects.toThrow("gone does not exist.");
  });
});

describe("fs.remove", () => {
  test("removes a file, and a full directory only with recursive", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a", "");
    workspace.put("d/e", "");
    expect(await run(removeTool, workspace, { path: "a" })).toBe("Removed a.");
    await expect(run(removeTool, workspace, { path: "d" })).rejects.toMatchObject({ reason: "NotEmpty" });
    expect(await run(removeTool, workspace, { path: "d", recursive: true })).toBe("Removed d.");
    expect(existsSync(join(workspace.root, "d"))).toBe(false);
    await expect(run(removeTool, workspace, { path: "a" })).rejects.toThrow("a does not exist.");
  });
});
