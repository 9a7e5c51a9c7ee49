import { expect, test } from "vitest";
import { ackProject } from "../../test/fakes/ack-project.ts";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";

const MODEL = `
name: writer
rules:
  - when: { tool: fs.write }
    reply: [{ text: Done. }]
otherwise: [{ tool: fs.write, args: { path: "a/rather/long/path/that/nobody/would/want/to/read/in/one/line/notes.txt", content: x } }]
`;

function writer() {
  const cli = createInProcessCli();
  cli.put("model.yaml", MODEL);
  return { cli, run: () => cli.run("run", "--no-project", "--model", "scripted:model.yaml", "go") };
}

test("a refusal is shown with its remedy, however long what was refused is", async () => {
  const { err } = await writer().run();
  const rule = "Write(a/rather/long/path/that/nobody/would/want/to/read/in/one/line/notes.txt)";
  expect(err).toContain(`The user can allow it with the rule ${rule} (--allow '${rule}').  [denied]\n`);
});

test("a refusal of many and very long lines keeps its last line whole", async () => {
  const { cli } = writer();
  cli.put(
    ".harness/hooks/guard.md",
    `---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      return block("why\\n" * 20 + "x" * 5000 + " ask the owner")\n---\n\n# guard\n`,
  );
  cli.put("harness.md", "---\n---\n\nText.\n");
  await ackProject(cli);
  const { err } = await cli.run("run", "--model", "scripted:model.yaml", "go");
  expect(err).toContain("To allow it, change that hook.  [denied]\n");
  expect(err).toMatch(/… \d+ more lines\n/);
});
