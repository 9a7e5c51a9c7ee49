/** Steering files and secret files in the whole program: which rules and answers do not cover them. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { protectedNames, protectedPatterns, steeringFile } from "#base";
import type { Tool } from "#engine";
import { textOutput } from "#engine";
import { answered } from "./fakes/answered-turn.ts";
import { calls, createHarnessRig, type HarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "./fakes/test-sandbox.ts";

const FILES = [".git/config", ".git/hooks/pre-commit", ".harness/hooks/x.md", ".vscode/tasks.json"];
const tools = { execution: "auto", onError: "continue" } as const;

function allowing(...rules: readonly string[]): RigOptions {
  return { settings: { permissions: rules.map((rule) => ({ effect: "allow", rule, source: "test" })), tools } };
}

function writes(paths: readonly string[]) {
  return paths.map((path) => calls(["fs_write", { path, content: "x" }]));
}

function outcomes(rig: HarnessRig): readonly string[] {
  return rig.of("ToolResult").map(({ outcome }) => outcome);
}

describe("a change of a steering file", () => {
  test.each([
    ["Write(*)"],
    ["Write(**)"],
    ["Write"],
    ["fs.*"],
    ["Write(.git/**)", "Write(.harness/**)", "Write(.vscode/**)"],
    FILES.map((path) => `Write(${path})`),
  ])("is not covered by the rules %j", async (...rules) => {
    const rig = await createHarnessRig([...writes([...FILES, "plain.txt"]), says("done")], allowing("Write", ...rules));
    await rig.send();
    expect(outcomes(rig)).toEqual(["denied", "denied", "denied", "denied", "ok"]);
    expect(FILES.filter((path) => existsSync(join(rig.workspace.root, path)))).toEqual([]);
    const [first] = rig.of("ToolResult");
    expect(JSON.stringify(first?.content)).toContain("run where a person can answer");
    expect(rig.of("CallJudged")[0]?.judged).toMatchObject({ effect: "ask", by: "steering files" });
  });

  test("is one also in a folder that core.hooksPath names", async () => {
    const rig = await createHarnessRig(
      [
        ...writes(["tools/git/pre-commit", "tools/other.txt"]),
        calls(["fs_move", { from: "made", to: "tools/git" }]),
        calls(["fs_remove", { path: "tools", recursive: true }]),
        says("done"),
      ],
      {
        ...allowing("Write", "fs.move", "fs.remove"),
        prepare(workspace) {
          workspace.put(".git/config", "[core]\n\tbare = false\n\thooksPath = tools/git\n");
          workspace.put("made/pre-push", "x");
          workspace.put("tools/git/pre-push", "x");
        },
      },
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(["denied", "ok", "denied", "denied"]);
    expect(JSON.stringify(rig.of("ToolResult")[0]?.content)).toContain("core.hooksPath");
  });

  test("is one also in what an included file and the person's own git configuration name", async () => {
    const personal = join(createTemporaryWorkspace().outside, "gitconfig");
    writeFileSync(personal, "[core]\n\thooksPath = mine\n");
    const rig = await createHarnessRig(
      [...writes(["tools/hooks/pre-commit", "shared.gitconfig", "mine/pre-push", "real/x", "plain.txt"]), says("done")],
      {
        ...allowing("Write"),
        extraEnv: { GIT_CONFIG_GLOBAL: personal },
        prepare(workspace) {
          workspace.put(".git/HEAD", "ref: refs/heads/main\n");
          workspace.put(".git/config", "[include]\n\tpath = ../shared.gitconfig\n[core]\n\thooksPath = led\n");
          workspace.put("shared.gitconfig", "[core]\n\thooksPath = tools/hooks\n");
          workspace.put("real/y", "");
          symlinkSync("real", join(workspace.root, "led"));
        },
      },
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(["denied", "denied", "denied", "denied", "ok"]);
  });

  test("is not covered by --auto-approve", async () => {
    const rig = await createHarnessRig([...writes([...FILES, "plain.txt"]), says("done")], {
      autoApprove: true,
      settings: { tools },
    });
    await rig.send();
    expect(outcomes(rig)).toEqual(["denied", "denied", "denied", "denied", "ok"]);
    expect(rig.of("PermissionAnswered")).toHaveLength(1);
  });

  test("is put to the person under --auto-approve, where there is one", async () => {
    const rig = await createHarnessRig([...writes([".vscode/tasks.json"]), says("done")], {
      autoApprove: true,
      interactive: true,
    });
    expect(await answered(rig, "allow_once")).toHaveLength(1);
    expect(outcomes(rig)).toEqual(["ok"]);
  });

  test.each(["allow_tool", "allow_argv_glob"] as const)("%s approves one call and adds no rule", async (decision) => {
    const paths = ["plain.txt", ".git/config", ".git/config", ".vscode/tasks.json"];
    const rig = await createHarnessRig([...writes(paths), says("done")], { interactive: true, settings: { tools } });
    const asked = await answered(rig, decision);
    expect(asked.map(({ args }) => (args as { path: string }).path)).toEqual(paths);
    expect(asked.slice(1)).toMatchObject([
      {
        steering: [".git/config"],
        offers: ["allow_once", "deny"],
        reason: expect.stringContaining("git configuration"),
      },
      { steering: [".git/config"], offers: ["allow_once", "deny"] },
      { steering: [".vscode/tasks.json"], offers: ["allow_once", "deny"] },
    ]);
    expect(asked.slice(1).filter(({ argv_glob }) => argv_glob !== undefined)).toEqual([]);
    expect(asked[0]).not.toHaveProperty("offers");
    expect(rig.of("PermissionAnswered").slice(1)).toMatchObject([
      { decision: "allow_once", approval: { scope: "call" } },
      { decision: "allow_once" },
      { decision: "allow_once" },
    ]);
    expect(rig.of("PermissionAnswered").filter(({ rule }) => rule !== undefined)).toHaveLength(1);
    expect(outcomes(rig)).toEqual(["ok", "ok", "ok", "ok"]);
    expect((await rig.submit({ kind: "ListRules" })).result).toHaveLength(1);
  });

  test("is denied by a deny rule without a question", async () => {
    const rig = await createHarnessRig([...writes([".vscode/tasks.json"]), says("done")], {
      interactive: true,
      settings: { permissions: [{ effect: "deny", rule: "Write(.vscode/**)", source: "test" }] },
    });
    await rig.send();
    expect(rig.of("PermissionRequested")).toEqual([]);
    expect(outcomes(rig)).toEqual(["denied"]);
  });

  test("is recognised in links, spellings, folders and nested repositories", async () => {
    const requested = [
      ["fs_write", { path: "docs/hooks/pre-commit", content: "x" }],
      ["fs_write", { path: "docs/../.git/config", content: "x" }],
      ["fs_write", { path: ".GIT/config", content: "x" }],
      ["fs_write", { path: "sub/.git/config", content: "x" }],
      ["fs_write", { path: "linked/settings.json", content: "x" }],
      ["fs_edit", { path: "harness.md", old_text: "a", new_text: "b" }],
      ["fs_remove", { path: ".git", recursive: true }],
      ["fs_remove", { path: "inner", recursive: true }],
      ["fs_remove", { path: ".idea" }],
      ["fs_move", { from: "inner", to: "elsewhere" }],
      ["fs_move", { from: "docs/plain", to: ".vscode" }],
      ["fs_move", { from: "docs/plain", to: "x.git" }],
      ["fs_move", { from: ".git/config", to: "config" }],
      ["fs_move", { from: "docs/plain", to: "moved" }],
      ["fs_remove", { path: "moved", recursive: true }],
    ] as const;
    const rig = await createHarnessRig(
      [...requested.map((call) => calls(call)), says("done")],
      allowing("Write", "Edit", "Move", "Remove"),
    );
    const { root } = rig.workspace;
    rig.workspace.put(".git/config", "[core]\n");
    rig.workspace.put(".git/hooks/sample", "");
    rig.workspace.put("docs/plain/config", "");
    rig.workspace.put("inner/deep/.git/HEAD", "");
    rig.workspace.put("harness.md", "a");
    mkdirSync(join(root, "ordinary"));
    symlinkSync("../.git/hooks", join(root, "docs/hooks"));
    symlinkSync(".vscode", join(root, "linked"));
    symlinkSync("ordinary", join(root, ".idea"));
    await rig.send();
    const results = outcomes(rig).map((outcome, index) => `${JSON.stringify(requested[index])}: ${outcome}`);
    expect(results.filter((line) => line.endsWith(": ok"))).toEqual(results.slice(-2));
    expect(results.slice(0, -2).filter((line) => !line.endsWith(": denied"))).toEqual([]);
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("[core]\n");
  });

  test("is refused inside another tool, whoever allowed that", async () => {
    const scaffold: Tool = {
      name: "scaffold",
      label: "Scaffold",
      class: "mutating",
      description: "",
      parameters: { type: "object", properties: { path: { type: "string" } } },
      async run({ path }, { ports }) {
        await ports.files.write(String(path), Buffer.from("x"));
        return textOutput("written");
      },
    };
    const scripted = [".vscode/tasks.json", "plain.txt"].map((path) => calls(["scaffold", { path }]));
    const options = [{ autoApprove: true }, { interactive: true }, allowing("scaffold", "Write")];
    for (const option of options) {
      const rig = await createHarnessRig([...scripted, says("done")], {
        ...option,
        settings: { ...("settings" in option ? option.settings : {}), tools },
        plugins: [
          { name: "scaffolds", register: (host) => host.addToolSource({ name: "scaffolds", tools: () => [scaffold] }) },
        ],
      });
      await answered(rig, "allow_once");
      const [first, second] = rig.of("ToolResult");
      expect(first?.outcome).toBe("error");
      expect(JSON.stringify(first?.content)).toContain("a separate call");
      expect(second?.outcome).toBe("ok");
      expect(existsSync(join(rig.workspace.root, ".vscode"))).toBe(false);
    }
  });
});

/** One list: a name that only the file tools or only the sandbox knew would fail here. */
describe("each name of the list", () => {
  const names = [
    ...protectedNames().map(({ name }) => name),
    ...protectedPatterns().map(({ glob }) => glob.replace("*", "chosen")),
  ];

  test("asks a person when a file tool writes it", async () => {
    for (const name of names) expect([name, steeringFile(name)?.why]).toEqual([name, expect.any(String)]);
    const written = calls(...names.map((path) => ["fs_write", { path, content: "x" }] as const));
    const rig = await createHarnessRig([written, says("done")], allowing("Write"));
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }, index) => `${names[index]}: ${outcome}`)).toEqual(
      names.map((name) => `${name}: denied`),
    );
  });

  test.runIf(hasSandbox)("is not there when a command has written it", async () => {
    const workspace = createTemporaryWorkspace();
    const write = names.map((name) => `mkdir -p '${dirname(name)}'; echo planted > '${name}'`).join("\n");
    await createTestSandbox(workspace).shell(`(${write}) 2>/dev/null`);
    expect(names.filter((name) => existsSync(join(workspace.root, name)))).toEqual([]);
  });

  test.runIf(hasSandbox)("is as it was when a command has changed it", async () => {
    const workspace = createTemporaryWorkspace();
    for (const name of names) workspace.put(name, "mine\n");
    const change = names
      .map(
        (name) =>
          `echo planted > '${name}'; rm -f '${name}'; mv '${dirname(name)}' moved; mkdir -p '${dirname(name)}'; echo planted > '${name}'`,
      )
      .join("\n");
    await createTestSandbox(workspace).shell(`(${change}) 2>/dev/null`);
    const changed = names.filter((name) => readFileSync(join(workspace.root, name), "utf8") !== "mine\n");
    expect(changed).toEqual([]);
  });
});

describe("reading a secret file", () => {
  const read = [
    ["fs_read", { path: ".env" }],
    ["fs_read", { path: "config/.env" }],
    ["fs_read", { path: "keys/server.pem" }],
    ["fs_read", { path: "link" }],
    ["fs_search", { pattern: "KEY", path: ".env" }],
    ["fs_search", { pattern: "KEY", glob: ".env" }],
    ["fs_move", { from: ".env", to: "plain.txt" }],
    ["exec", { command: "cat .env" }],
    ["exec", { command: "cat link" }],
    ["fs_read", { path: "readme.md" }],
  ] as const;

  function prepared(rig: HarnessRig): HarnessRig {
    rig.workspace.put(".env", "KEY=1\n");
    rig.workspace.put("config/.env", "KEY=1\n");
    rig.workspace.put("keys/server.pem", "x\n");
    rig.workspace.put("readme.md", "x\n");
    symlinkSync(".env", join(rig.workspace.root, "link"));
    return rig;
  }

  test.each([
    ["Read(**)"],
    ["Read(*)"],
    ["Read"],
    ["Read(.e*)", "Read(**/*.pem)", "Read(.env*)", "Read(config/**)", "Read(link)"],
  ])("is not covered by the rules %j", async (...rules) => {
    const rig = prepared(
      await createHarnessRig(
        [...read.map((call) => calls(call)), says("done")],
        allowing("Grep", "Move", "Bash", ...rules),
      ),
    );
    await rig.send();
    expect(outcomes(rig)).toEqual([...read.slice(1).map(() => "denied"), "ok"]);
    const texts = rig.of("ToolResult").map(({ content }) => JSON.stringify(content));
    expect(texts[0]).toContain("with the rule Read(.env)");
    expect(texts[5]).toContain("a rule that names the file");
    expect(texts[7]).toContain("with the rule Bash(cat .env)");
  });

  test("is covered by a rule that names the file", async () => {
    const rules = ["Read(.env)", "Read(config/.env)", "Read(**/server.pem)", "Read(link)", "Bash(cat *)"];
    const requested = [...read.slice(0, 4), read[7]];
    const rig = prepared(
      await createHarnessRig([...requested.map((call) => calls(call)), says("done")], allowing(...rules)),
    );
    await rig.send();
    expect(outcomes(rig)).toEqual(requested.map(() => "ok"));
  });

  test("is not covered by a session rule for the tool, and asks each time", async () => {
    const rig = prepared(
      await createHarnessRig([calls(read[0]), calls(read[1]), calls(read[0]), says("done")], { interactive: true }),
    );
    expect(await answered(rig, "allow_tool")).toHaveLength(3);
  });

  test("is covered by --auto-approve, which answers questions", async () => {
    const rig = prepared(await createHarnessRig([calls(read[0]), says("done")], { autoApprove: true }));
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok"]);
  });
});
