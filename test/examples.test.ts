/** The examples run as they are written, each in a process of its own. */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const examples = resolve(import.meta.dirname, "..", "examples");

test("embed: a tool of the program, a handler, one prompt", async () => {
  const run = await promisify(execFile)(process.execPath, [join(examples, "embed", "main.ts")], {
    env: { PATH: process.env.PATH },
  });
  expect(run).toEqual({
    stdout: [
      "text    I look into the stock.",
      'call    stock.count {"article":"teapot"}',
      "result  3 in stock",
      "text    Teapots: 3 in stock.",
      "answer  Teapots: 3 in stock. (2 model calls)",
      "",
    ].join("\n"),
    stderr: "",
  });
});
