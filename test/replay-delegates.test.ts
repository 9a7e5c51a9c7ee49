/** Sessions with delegates, recorded and replayed: one after the other, side by side, nested, checked. */
import { cpSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";

test.each([
  ["chain", "Report on teapots."],
  ["scouts", "Look everywhere."],
  ["decomposer", "How many words are there?"],
  ["caught", "Build honest.txt"],
  ["caught", "Build never.txt"],
])("%s, asked %j, has the same log in another folder", async (example, input) => {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  const [project, again, cassette] = ["project", "again", "case.cassette"].map((name) => join(cli.workspace, name));
  if (project === undefined || again === undefined || cassette === undefined)
    throw new Error("three names, three paths");
  for (const folder of [project, again]) {
    mkdirSync(folder);
    cpSync(resolve(import.meta.dirname, "../examples", example), folder, { recursive: true });
    await ackProject({ ...cli, workspace: folder });
  }
  const flags = ["--auto-approve", "--json"];
  const model = ["-m", `scripted:${join(project, "model.yaml")}`];
  const recorded = await cli.run("run", "-C", project, ...model, ...flags, "--record", cassette, input);
  expect(recorded.out).toContain("DelegationEnded");
  const replayed = await cli.run("run", "-C", again, ...flags, "--replay", cassette);
  // That everything is approved is said when it is.
  expect(replayed).toEqual({ ...recorded, err: "" });
});
