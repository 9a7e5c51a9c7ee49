/** `context.sources` of a project: what joins a turn, by which right, and what happens when a source fails. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type RigOptions, says } from "./fakes/harness-rig.ts";
import { CHECKOUT, shown } from "./fakes/mcp-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { createProjectRig, type ProjectFiles, type ProjectRig } from "./fakes/project-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

function harness(sources: string, more = ""): string {
  const indented = sources.trim().replace(/^/gm, "    ");
  return `---\n${more}context:\n  sources:\n${indented}\n---\nYou are the agent.\n`;
}

const added = (rig: ProjectRig): readonly string[] =>
  rig
    .of("ContextAdded")
    .map(({ what, content }) => `${what}: ${content.map((one) => ("text" in one ? one.text : "")).join()}`);

interface SourceRigOptions extends Pick<RigOptions, "autoApprove" | "interactive" | "extraEnv" | "settings"> {
  readonly more?: string;
  readonly files?: ProjectFiles;
  readonly turns?: number;
}

async function rigFor(sources: string, { more = "", files = {}, turns = 1, ...options }: SourceRigOptions = {}) {
  const rig = await createProjectRig(
    { "harness.md": harness(sources, more), ...files },
    Array.from({ length: turns }, () => says("ok")),
    options,
  );
  return rig;
}

describe("a source", () => {
  test("of a session is read once and stands in the prompt, delimited", async () => {
    const rig = await rigFor("- name: notes\n  file: notes.md", { files: { "notes.md": "Say moo." }, turns: 2 });
    await rig.send();
    rig.write("notes.md", "Say baa.");
    await rig.send();
    expect(rig.of("ContextAdded")).toMatchObject([
      { origin: "source", what: "notes", in_prompt: true, why: "always, once for each session" },
    ]);
    const { messages } = (rig.vendor.requests[1] ?? { body: {} }).body as { messages: { role: string }[] };
    expect(JSON.stringify(messages.filter(({ role }) => role === "system"))).toMatch(
      /<untrusted id=\\"\w+\\" from=\\"source notes\\">.*Say moo/,
    );
  });

  test("of a turn joins again only when it has changed", async () => {
    const rig = await rigFor("- name: notes\n  file: notes.md\n  refresh: turn", {
      files: { "notes.md": "moo" },
      turns: 3,
    });
    await rig.send();
    await rig.send();
    rig.write("notes.md", "baa");
    await rig.send();
    expect(added(rig)).toEqual([expect.stringContaining("moo"), expect.stringContaining("baa")]);
  });

  test("applies while its predicate holds", async () => {
    const rig = await rigFor(
      `- name: mode\n  starlark: '"in " + ctx.get("mode")'\n  when: ctx.get("mode") != None\n  refresh: turn`,
      { turns: 2 },
    );
    await rig.send();
    expect(added(rig)).toEqual([]);
    await rig.submit({ kind: "SetContext", values: { mode: "review" } });
    await rig.send();
    expect(added(rig)).toEqual(["mode: in review"]);
  });

  test("stable ones come first", async () => {
    const rig = await rigFor(`- name: b\n  starlark: '"b"'\n  refresh: turn\n- name: a\n  starlark: '"a"'`);
    await rig.send();
    expect(added(rig)).toEqual(["a: a", "b: b"]);
  });

  test("is cut at its budget, and says so", async () => {
    const rig = await rigFor(`- name: long\n  starlark: '"x" * 100'\n  max_tokens: 5`);
    await rig.send();
    expect(added(rig)).toEqual([`long: ${"x".repeat(20)}\n[cut: 80 more characters]`]);
  });
});

describe("a command", () => {
  const SOURCE = "- name: head\n  command: echo moo > made.txt; cat made.txt";

  test("runs by a rule, with a record like any call", async () => {
    const rig = await rigFor("- name: head\n  command: echo moo", {
      more: 'permissions:\n  allow: ["Bash(echo *)"]\n',
    });
    await rig.send();
    expect(added(rig)).toEqual([expect.stringContaining("moo")]);
    expect(rig.of("ToolIntent")).toMatchObject([{ name: "exec", allowed_by: { by: "rule Bash(echo *)" } }]);
    expect(rig.of("PermissionRequested")).toEqual([]);
  });

  test.each([
    ["that no rule allows", SOURCE, {}],
    ["that is quiet and that no rule allows", "- name: head\n  command: cat harness.md", {}],
    ["with automatic approval", SOURCE, { autoApprove: true }],
    ["with somebody there to be asked", SOURCE, { interactive: true }],
  ])("%s is refused without a question, and the turn goes on", async (_, source, options) => {
    const rig = await rigFor(source, options);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(rig.of("PermissionRequested")).toEqual([]);
    expect(added(rig)).toEqual([]);
    expect(rig.of("Error")).toMatchObject([{ reason: "ContextSourceFailed", terminal: false }]);
    expect(rig.of("Error")[0]?.message).toContain("nobody is asked about this call");
    expect(rig.of("ToolOutcome")).toEqual([]);
  });

  test("that a rule denies stays denied", async () => {
    const rig = await rigFor("- name: head\n  command: echo moo", {
      more: 'permissions:\n  allow: ["Bash(echo *)"]\n  deny: ["Bash(echo moo)"]\n',
    });
    await rig.send();
    expect(added(rig)).toEqual([]);
    expect(rig.of("Error")[0]?.message).toContain("denied by the rule");
  });
});

test.runIf(hasSandbox)("a resource that a rule allows joins as untrusted content, with a record", async () => {
  const home = createTemporaryWorkspace().outside;
  const server = shown(stdioServer("new", [join(CHECKOUT, "test/fakes/modern-mcp-server.ts")]));
  const rule = "mcp.read_resource(new:note://*)";
  const rig = await rigFor('- name: note\n  resource: { server: new, uri: "note://1" }\n  refresh: turn', {
    turns: 2,
    extraEnv: { HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home },
    settings: { permissions: [{ effect: "allow", rule, source: "test" }], mcpServers: [server] },
  });
  await rig.send();
  await rig.send();
  expect(added(rig)).toEqual([expect.stringContaining("first")]);
  expect(rig.of("ToolIntent")).toMatchObject(
    Array.from({ length: 2 }, () => ({ name: "mcp.read_resource", allowed_by: { by: `rule ${rule}` } })),
  );
  expect(rig.of("ToolResult")).toMatchObject(Array.from({ length: 2 }, () => ({ labels: ["untrusted"] })));
  expect(rig.of("PermissionRequested")).toEqual([]);
});

test("a resource of a server that no rule allows is refused", async () => {
  const rig = await rigFor('- name: issue\n  resource: { server: tracker, uri: "issue://1" }');
  await rig.send();
  expect(rig.of("Error")).toMatchObject([{ reason: "ContextSourceFailed", terminal: false }]);
});

describe("a source that fails", () => {
  test.each([
    ["its file is gone", "- name: s\n  file: notes.md", "notes.md does not exist"],
    ["its predicate raises", "- name: s\n  file: harness.md\n  when: 1 // 0 == 1", "harness.md:"],
    ["its expression gives no text", "- name: s\n  starlark: '[1]'", "other than a text"],
    ["its expression never ends", `- name: s\n  starlark: 'str([x for x in range(10000000)])'`, "harness.md:"],
  ])("is told when %s, at each turn, and stops nothing", async (_, source, why) => {
    const rig = await rigFor(source, { turns: 2, files: { "notes.md": "x" } });
    rmSync(join(rig.workspace.root, "notes.md"));
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    await rig.send();
    expect(rig.of("Error")).toHaveLength(2);
    expect(rig.of("Error")[0]).toMatchObject({ reason: "ContextSourceFailed", message: expect.stringContaining(why) });
  });

  test("ends the turn where it is required", async () => {
    const rig = await rigFor("- name: s\n  file: notes.md\n  required: true");
    expect(await rig.send()).toMatchObject({ outcome: "error", reason: "ContextSourceFailed" });
    expect(rig.vendor.requests).toHaveLength(0);
  });
});

test("a file that a rule denies joins no turn", async () => {
  const rig = await rigFor("- name: s\n  file: notes.md", {
    files: { "notes.md": "moo" },
    more: 'permissions:\n  deny: ["Read(notes.md)"]\n',
  });
  await rig.send();
  expect(added(rig)).toEqual([]);
});
