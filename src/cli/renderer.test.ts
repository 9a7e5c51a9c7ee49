import { expect, test } from "vitest";
import type { Event } from "#protocol";
import { ackProject } from "../../test/fakes/ack-project.ts";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { createRenderer } from "./renderer.ts";
import type { Terminal } from "./terminal.ts";

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

test("an error of a script is shown with its remedy", async () => {
  const { cli } = writer();
  cli.put(
    ".harness/tools/fetch.md",
    `---\nparameters: {}\nscript: |\n  def run(args):\n      return http.get("https://a-rather-long-name.example.com/")\n---\n\nFetches.\n`,
  );
  cli.put("harness.md", "---\n---\n\nText.\n");
  cli.put(
    "fetch.yaml",
    "name: f\nrules:\n  - { when: { tool: fetch }, reply: [{ text: Done. }] }\notherwise: [{ tool: fetch }]\n",
  );
  await ackProject(cli);
  const flags = ["--allow", "fetch", "--allowed-domain", "other.example.com"];
  const { err } = await cli.run("run", "--model", "scripted:fetch.yaml", ...flags, "go");
  expect(err).toContain("is not in allowed_domains (--allowed-domain). To allow it, add the host to that list\n");
});

test("a retry says which one it is and when it comes", () => {
  const lines: string[] = [];
  const terminal = { colour: false, err: (text: string) => lines.push(text), out: () => undefined };
  // What the renderer uses of a terminal, and of an event.
  const { show } = createRenderer(terminal as unknown as Terminal, { answer: true, activity: true });
  const retry = { attempt: 1, of: 3 };
  const payload = { reason: "ProviderUnavailable", message: "Busy.", terminal: false, retry, retry_after_ms: 2_000 };
  show({ kind: "Error", payload } as unknown as Event);
  expect(lines).toEqual(["… ProviderUnavailable: Busy. Retry 1 of 3 in 2.0 s.\n"]);
});
