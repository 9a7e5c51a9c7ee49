import { expect, test } from "vitest";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";

test("a folder in which the program only kept its sessions is no project of its own; one with artifacts is", async () => {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  const addCase = (folder: string): void => {
    const setup = "setup: { scenario: greets.scenario }";
    cli.put(
      `${folder}/evals/testdata/01.yaml`,
      `name: greets\n${setup}\nturns: [{ content: Hi }]\ngrade: [{ type: no_errors }]\n`,
    );
    cli.put(`${folder}/evals/testdata/greets.scenario`, "name: greets\nrules: []\notherwise: [{ text: Hello. }]\n");
  };
  addCase("part");
  cli.put("part/.harness/threads/.gitignore", "*\n");
  addCase("own");
  cli.put("own/.harness/hooks/none.star", "");
  expect((await cli.run("eval", "part/evals/testdata")).err).toContain("new     part/evals/testdata/01.yaml");
  expect((await cli.run("eval", "own/evals/testdata")).err).toContain("new     evals/testdata/01.yaml");
});
