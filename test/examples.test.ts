/** The examples run as they are written, each in a process of its own. */
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createCliHome } from "./fakes/cli-process.ts";
import { daemonPlace, startDaemonRun } from "./fakes/daemon-run.ts";

const examples = resolve(import.meta.dirname, "..", "examples");

test("embed: a tool of the program, a handler, one prompt", async () => {
  const run = await promisify(execFile)(process.execPath, [join(examples, "embed", "main.ts")], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
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

test("rpc: a client of the JSON-RPC surface, with an approval", async () => {
  const home = createCliHome();
  const model = home.put(
    "model.yaml",
    "name: writer\nrules:\n  - when: {tool: fs.write}\n    reply: [{text: Written.}]\notherwise: [{text: I write.}, {tool: fs.write, args: {path: out.txt, content: made}}]\n",
  );
  const run = await promisify(execFile)(
    process.execPath,
    [join(examples, "rpc", "client.ts"), "--cwd", home.workspace, "--approve", "once", "write it"],
    { env: { ...home.env, HARNESS_MODEL: `scripted:${model}` } },
  );
  expect(run).toEqual({
    stdout: 'I write.\n→ Write {"path":"out.txt","content":"made"}\n+ out.txt\n← ok\nWritten.\n',
    stderr: "",
  });
});

test("client: the library, on a program of its own and on a daemon", async () => {
  const home = createCliHome();
  const model = home.put(
    "model.yaml",
    "name: writer\nrules:\n  - when: {tool: fs.write}\n    reply: [{text: Written.}]\notherwise: [{text: I write.}, {tool: fs.write, args: {path: out.txt, content: made}}]\n",
  );
  const env = { ...home.env, HARNESS_MODEL: `scripted:${model}` };
  const run = (...args: string[]) =>
    promisify(execFile)(
      process.execPath,
      [join(examples, "client", "main.ts"), "--cwd", home.workspace, "--approve", "allow_once", ...args, "write it"],
      { env },
    );
  const expected = {
    stdout: 'I write.\n→ Write {"path":"out.txt","content":"made"}\n← ok\nWritten.\n',
    stderr: "",
  };
  expect(await run()).toEqual(expected);
  const { socket, tokenFile, flags } = daemonPlace(home);
  await startDaemonRun(home, ...flags, "--model", `scripted:${model}`);
  expect(await run("--connect", `unix:${socket}`, "--token-file", tokenFile)).toEqual(expected);
});
