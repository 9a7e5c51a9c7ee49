import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace, createToolContext } from "../../test/fakes/temporary-workspace.ts";
import { editTool } from "./edit.ts";

/** Puts `before` into a file, edits it and gives both the file and the answer. */
async function edit(before: string | Uint8Array, args: Record<string, unknown>) {
  const workspace = createTemporaryWorkspace();
  const file = workspace.put("f.txt", before);
  const { content } = await editTool.run({ path: "f.txt", ...args }, createToolContext(workspace.ports));
  const [block] = content;
  return { after: readFileSync(file, "utf8"), answer: block?.type === "text" ? block.text : "no text" };
}

describe("a match", () => {
  test("is replaced, and the lines around it are shown with their numbers", async () => {
    const before = ["a", "b", "c", "d", "old", "f", "g", "h", "i"].join("\n");
    expect(await edit(before, { old_text: "old", new_text: "new\nlines" })).toEqual({
      after: ["a", "b", "c", "d", "new", "lines", "f", "g", "h", "i"].join("\n"),
      answer:
        "Edited f.txt:\n     2\tb\n     3\tc\n     4\td\n     5\tnew\n     6\tlines\n     7\tf\n     8\tg\n     9\th",
    });
  });

  test("is taken literally on both sides", async () => {
    const { after } = await edit("a.*b $1\n", { old_text: ".*b $1", new_text: "$& $' \\n" });
    expect(after).toBe("a$& $' \\n\n");
  });

  test("found several times is refused with the lines, or replaced everywhere on request", async () => {
    const before = "x\ny\nx\nx\n";
    await expect(edit(before, { old_text: "x", new_text: "z" })).rejects.toThrow("3 times, at lines 1, 3, 4.");
    const { after, answer } = await edit(before, { old_text: "x", new_text: "xx", all: true });
    expect(after).toBe("xx\ny\nxx\nxx\n");
    expect(answer).toContain("(3 places; the first is shown)");
  });

  test("can be deleted, and the excerpt stays bounded", async () => {
    expect((await edit("a\nb\n", { old_text: "b\n", new_text: "" })).after).toBe("a\n");
    const { answer } = await edit("x", { old_text: "x", new_text: "line\n".repeat(500) });
    expect(answer.split("\n").length).toBe(41);
  });
});

describe("a mark of redaction", () => {
  test("that was copied from what was shown is refused on both sides, with what to do instead", async () => {
    const before = "HOST=a\nTOKEN=s3cret\n";
    const shown = { old_text: "HOST=a\nTOKEN=«redacted:api-token»", new_text: "HOST=b\nTOKEN=«redacted:api-token»" };
    await expect(edit(before, shown)).rejects.toThrow(
      "old_text is not in f.txt. «redacted:api-token» stands for a secret that you were not shown: name only text around it",
    );
    const added = { old_text: "HOST=a", new_text: "HOST=«redacted:host»" };
    await expect(edit(before, added)).rejects.toThrow("f.txt was not changed: the text holds «redacted:host»");
    expect((await edit(before, { old_text: "HOST=a", new_text: "HOST=b" })).after).toBe("HOST=b\nTOKEN=s3cret\n");
  });

  test("that the file itself has may be moved and repeated", async () => {
    const { after } = await edit("a «redacted:jwt»\n", {
      old_text: "a «redacted:jwt»",
      new_text: "«redacted:jwt» «redacted:jwt»",
    });
    expect(after).toBe("«redacted:jwt» «redacted:jwt»\n");
  });
});

describe("line endings", () => {
  test("a CRLF file keeps its own, in what was found and in what is new", async () => {
    const { after } = await edit("a\r\nb\r\nc\r\n", { old_text: "a\nb", new_text: "1\n2\n3" });
    expect(after).toBe("1\r\n2\r\n3\r\nc\r\n");
    expect((await edit("a\r\nb\r\n", { old_text: "b", new_text: "b\nc" })).after).toBe("a\r\nb\r\nc\r\n");
    expect((await edit("a\r\nb\r\n", { old_text: "a\r\nb", new_text: "a\r\nc" })).after).toBe("a\r\nc\r\n");
  });

  test("in a mixed file nothing changes but the match", async () => {
    expect((await edit("a\r\nb\r\nc\nd\n", { old_text: "c\nd", new_text: "e\nf" })).after).toBe("a\r\nb\r\ne\nf\n");
    expect((await edit("a\nb\nc\r\n", { old_text: "a", new_text: "x\ny" })).after).toBe("x\ny\nb\nc\r\n");
  });

  test("a byte order mark survives", async () => {
    expect((await edit("\ufeffold", { old_text: "old", new_text: "new" })).after).toBe("\ufeffnew");
  });
});

describe("no match", () => {
  test("tells of lines that differ only in white space", async () => {
    const before = "function f() {\n\treturn  1;\n}\n";
    await expect(edit(before, { old_text: "function f() {\n  return 1;\n}", new_text: "" })).rejects.toThrow(
      "differs only in white space from these lines:\n     1\tfunction f() {\n     2\t\treturn  1;\n     3\t}",
    );
  });

  test("tells of the most similar lines", async () => {
    const before = "alpha\nconst timeoutMs = 5000;\nomega\nconst timeout = 50;\n";
    await expect(edit(before, { old_text: "const timeoutMs = 3000;", new_text: "" })).rejects.toThrow(
      "The most similar lines are:\n     2\tconst timeoutMs = 5000;\n     4\tconst timeout = 50;",
    );
  });

  test("tells of line numbers that were copied along, and of nothing alike", async () => {
    await expect(edit("one\ntwo\n", { old_text: "     1\tone\n     2\ttwo", new_text: "" })).rejects.toThrow(
      "begins with line numbers",
    );
    await expect(edit("one\ntwo\n", { old_text: "completely different", new_text: "" })).rejects.toThrow(
      "read it again",
    );
  });

  test("stays quick and short on a large file", async () => {
    const before = `${"lorem ipsum dolor sit amet ".repeat(20)}\n`.repeat(10_000);
    const error = await edit(before, { old_text: "lorem ipsum dolor sit amex ".repeat(20), new_text: "" }).catch(
      String,
    );
    expect(String(error).length).toBeLessThan(1_500);
  });
});

test("what cannot be edited is refused and left alone", async () => {
  await expect(edit("a", { old_text: "a", new_text: "a" })).rejects.toThrow("are the same");
  await expect(edit("a", { old_text: "", new_text: "a" })).rejects.toThrow("old_text is empty");
  await expect(edit(Buffer.from("a\0b"), { old_text: "a", new_text: "b" })).rejects.toThrow("binary data");
  await expect(edit(Buffer.from("a\xff", "latin1"), { old_text: "a", new_text: "b" })).rejects.toThrow(
    "not valid UTF-8",
  );
});

test("a missing file brings near names", async () => {
  const workspace = createTemporaryWorkspace();
  workspace.put("config.json", "{}");
  const args = { path: "confg.json", old_text: "a", new_text: "b" };
  await expect(editTool.run(args, createToolContext(workspace.ports))).rejects.toThrow("Did you mean config.json?");
  expect(readFileSync(join(workspace.root, "config.json"), "utf8")).toBe("{}");
});
