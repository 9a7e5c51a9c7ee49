/** The operation log of commands that are not a daemon: which lines they write, where, and in which form. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, runCli } from "../fakes/cli-process.ts";
import { goodCase } from "../fakes/eval-rig.ts";

const OFFLINE = ["--model", "scripted:offline", "--store", "memory"];

function logged(home: CliHome): { component: string; level: string; msg: string }[] {
  const folder = join(home.env.HOME ?? "", ".local", "state", "harness", "log");
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { component: string; level: string; msg: string }),
  );
}

test("run writes its turns into the log, and prints nothing of it", async () => {
  const home = createCliHome();
  expect(await callCli(home, ["run", "hi", ...OFFLINE])).toMatchObject({
    code: 0,
    err: expect.not.stringContaining("turn began"),
  });
  expect(logged(home)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ component: "engine", msg: "turn began" }),
      expect.objectContaining({ component: "engine", msg: "turn ended", outcome: "answered" }),
    ]),
  );
});

test("eval writes the turns of its cases into the log", async () => {
  const home = createCliHome();
  home.put("evals/testdata/well.yaml", goodCase);
  await ackProject(home);
  expect(await callCli(home, ["eval"])).toMatchObject({ code: 0 });
  expect(logged(home)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ component: "engine", msg: "turn began", model: "scripted:good" }),
      expect.objectContaining({ component: "engine", msg: "turn ended", outcome: "answered" }),
    ]),
  );
});

test.each([
  ["text", ["--log-to-stderr", "run", "hi"], {}, / INFO {2}engine: turn began pid=\d+ session=sess_/],
  [
    "the variable",
    ["run", "hi", "--log-to-stderr"],
    { HARNESS_LOG_FORMAT: "json" },
    /"component":"engine".*"turn began"/,
  ],
  ["the flag", ["--log-format=json", "deploy", "--input", "hi", "--log-to-stderr"], {}, /"msg":"turn began"/],
  ["a level", ["--log-level", "off,multiplex=trace", "run", "hi", "--log-to-stderr"], {}, /TRACE multiplex: event/],
])("%s decides how lines are printed", async (_name, args, env, expected) => {
  const { code, err } = await runCli(createCliHome(env), [...args, ...OFFLINE]);
  expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(expected) });
});

test.each([
  [["run", "hi", "--log-format", "xml"], "--log-format: 'xml' is not a log format"],
  [["run", "hi", "--log-level", "loud"], "--log-level: 'loud' is not a log level"],
])("%j is refused", async (args, message) => {
  expect(await runCli(createCliHome(), [...args, ...OFFLINE])).toMatchObject({
    code: 2,
    err: expect.stringContaining(message),
  });
});
