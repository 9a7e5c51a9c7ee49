/** What commands say that the model is shown is what a request holds: tool by tool, delegates, tasks and `meta.*` included. */
import { describe, expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { startModel } from "./fakes/eval-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";

const DELEGATION = ["delegate", "delegate_async", "task.poll", "task.await", "task.cancel"];
const AGENT = "---\ndescription: Looks things up.\ntools: [fs.read]\n---\n\nYou look things up.\n";
const ECHO = `---
parameters:
  text: { type: string, required: true, description: "What to repeat" }
  times: { type: int }
script: |
  def run(args):
      return args["text"]
---

Repeats a text.
`;
const NIGHT = `---
type: plugin
condition: ctx.get("phase") == "night"
tools:
  - name: whisper
    description: Says it quietly.
    script: |
      def run(args):
          return "psst"
---

It is night.
`;

const projects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "nothing but a prompt": { "harness.md": "---\n---\n\nHello.\n" },
  "an agent, tools and meta": {
    "harness.md": "---\nmeta: { enabled: true }\n---\n\nHello.\n",
    ".harness/agents/scout.md": AGENT,
    ".harness/tools/echo.md": ECHO,
    ".harness/plugins/night.md": NIGHT,
  },
  "a list of what is allowed": {
    "harness.md": '---\ntools_policy: { mode: allowlist, allow: ["fs.read", "delegate*", "echo"] }\n---\n\nHello.\n',
    ".harness/tools/echo.md": ECHO,
  },
  "a list of what is denied": {
    "harness.md": '---\ntools_policy: { deny: ["delegate", "task.*", exec] }\n---\n\nHello.\n',
    ".harness/agents/scout.md": AGENT,
  },
  "no delegation": {
    "harness.md": "---\ndelegation: { max_depth: 0 }\n---\n\nHello.\n",
    ".harness/agents/scout.md": AGENT,
  },
  "no project": {},
};

interface SentTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/** The tools of the one request that a prompt makes, by the name on the wire. */
async function open(files: Readonly<Record<string, string>>, set: readonly string[]) {
  const { vendor, env } = await startModel();
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "", HARNESS_MODEL: "openai:gpt-4o", ...env });
  for (const [file, text] of Object.entries(files)) cli.put(file, text);
  await ackProject(cli);
  expect(await cli.run("run", ...set, "Hi.")).toMatchObject({ code: 0 });
  // The shape of OpenAI's wire, which the mock has checked.
  const body = vendor.requests[0]?.body as { tools: readonly { readonly function: SentTool }[] };
  return { cli, sent: body.tools.map((tool) => tool.function) };
}

const onWire = (name: string): string => name.replaceAll(".", "_");
const visibleNames = (rows: unknown): string[] =>
  (rows as readonly { name: string; visible: boolean }[])
    .filter(({ visible }) => visible)
    .map(({ name }) => onWire(name));
const names = (rows: unknown): string[] => (rows as readonly { name: string }[]).map(({ name }) => onWire(name));

describe.each(Object.entries(projects))("with %s", (_name, files) => {
  // A project without a condition is the same by night.
  const sets = ".harness/plugins/night.md" in files || !("harness.md" in files) ? [[], ["--set", "phase=night"]] : [[]];

  test.each(sets.map((set) => [set]))("every list is that of the request %j", async (set) => {
    const { cli, sent } = await open(files, set);
    const expected = sent.map(({ name }) => name);
    expect(names(await cli.json("run", "--list-tools", ...set))).toEqual(expected);
    expect(names(await cli.json("deploy", "--list-tools", ...set))).toEqual(expected);
    expect(visibleNames(await cli.json("tools", ...set))).toEqual(expected);
    const inspected = (await cli.json("inspect", ...set)) as { tools: unknown };
    expect(visibleNames(inspected.tools)).toEqual(expected);
    const plan = JSON.parse((await cli.run("deploy", "--dry-run", ...set)).out) as { tools: readonly string[] };
    expect(plan.tools.map(onWire)).toEqual(expected);
    const { sections } = (await cli.json("context", ...set)) as {
      sections: readonly { kind: string; active: boolean; text: string }[];
    };
    const shown = sections.filter(({ kind, active }) => kind === "tool" && active).map(({ text }) => JSON.parse(text));
    expect(shown.map((tool: SentTool) => ({ ...tool, name: onWire(tool.name) }))).toEqual(
      sent.map(({ name, description, parameters }) => ({ name, description, parameters })),
    );
  });
});

test("delegate is offered wherever the policy allows it, with or without an agent", async () => {
  const offered = async (name: string): Promise<string[]> => {
    const { sent } = await open(projects[name] ?? {}, []);
    return DELEGATION.filter((tool) => sent.some((one) => one.name === onWire(tool)));
  };
  expect(await offered("nothing but a prompt")).toEqual(DELEGATION);
  expect(await offered("a list of what is allowed")).toEqual(["delegate", "delegate_async"]);
  expect(await offered("a list of what is denied")).toEqual(["delegate_async"]);
  expect(await offered("no delegation")).toEqual([]);
  expect(await offered("no project")).toEqual([]);
});

test("context is about the model of HARNESS_MODEL", async () => {
  const { cli } = await open(projects["nothing but a prompt"] ?? {}, []);
  expect(await cli.json("context")).toMatchObject({ model: "openai:gpt-4o", counted: "counted with o200k_base" });
});
