import { chmodSync, mkdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { createFakeScriptChecker } from "../../test/fakes/fake-script-checker.ts";
import { createProjectFolder, markdown, problemLines } from "../../test/fakes/project-folder.ts";
import type { JudgedFile, TrustPort } from "./project.ts";
import { createProjectLoader, trustsAll } from "./project-loader.ts";

const fixtures = resolve(import.meta.dirname, "../../test/fixtures");
const TOOL = markdown("script: |\n  def run(args):\n      return 1\n", "A tool.");
const HOOK = markdown(
  "event: tool.pre\npriority: 10\nscript: |\n  def handle(event, payload):\n      return allow()\n",
);

describe("a project", () => {
  test("without any file loads with every default", async () => {
    const { project, problems } = await createProjectFolder().load();
    expect(problems).toEqual([]);
    expect(project).toMatchObject({ tools: [], hooks: [], agents: [], bundles: [], files: [] });
    expect(project?.config).toEqual({
      models: [],
      context: { files: [] },
      contextDefaults: {},
      toolsPolicies: [],
      networks: [],
      permissions: [],
      labelRules: [],
      permissionExamples: [],
      delegation: {
        maxDepth: 3,
        maxConcurrent: 5,
        iterationsPerDepth: [20, 10, 5, 3],
        timeoutMs: 300_000,
        allowRecursive: true,
      },
      meta: { enabled: false, maxTools: 20, maxHooks: 20, maxAgents: 5, maxCallDepth: 2 },
      serve: [],
      mcpServers: [],
      budgets: {},
    });
  });

  test("is read with every field of its root file", async () => {
    const root = join(fixtures, "every-field");
    const { project, problems } = (
      await createProjectLoader({ root, checker: createFakeScriptChecker(), knownTools: ["fs.read"], trust: trustsAll })
    ).load();
    expect(problems).toEqual([]);
    const at = (line: number, column: number) => ({ file: "harness.md", line, column });
    expect(project?.identity).toEqual({ text: "You are careful.", place: at(83, 1) });
    expect(project?.configFile).toBe("harness.md");
    expect(project?.contextFiles).toEqual([{ file: "notes.txt", text: "About.\n" }]);
    expect(project?.files.map(({ file }) => file)).toEqual(["harness.md", "notes.txt"]);
    expect(project?.config).toEqual({
      model: {
        model: "copilot:gpt-4o",
        place: at(3, 3),
        baseUrl: "https://models.example.com",
        apiKeyEnv: "GH_TOKEN",
        maxTokens: 4096,
        temperature: 0.3,
        contextTokens: 64_000,
        retry: { maxRetries: 3, initialBackoffMs: 250, maxBackoffMs: 8000, multiplier: 2 },
      },
      models: [{ model: "openai:gpt-6-luna", place: at(12, 5) }],
      contextDefaults: { maxHistory: 50, maxTokens: 128_000 },
      context: {
        maxHistory: 30,
        maxTokens: 32_000,
        compaction: "prune",
        compactionModel: "openai:gpt-6-luna",
        files: ["notes.txt"],
      },
      toolsPolicies: [
        {
          tier: "project",
          policy: {
            mode: "allowlist",
            allow: [
              { pattern: "fs.*", place: at(21, 18) },
              { pattern: "echo", place: at(22, 7) },
            ],
            deny: [{ pattern: "exec", place: at(23, 10) }],
            place: at(20, 3),
          },
        },
      ],
      networks: [
        {
          tier: "project",
          network: {
            allowedDomains: [
              { pattern: "api.github.com", place: at(67, 7) },
              { pattern: "*.example.com", place: at(68, 7) },
            ],
          },
        },
      ],
      permissions: [
        { effect: "allow", rule: "Bash(npm test)", source: "harness.md:70" },
        { effect: "deny", rule: "Bash(git push *)", source: "harness.md:72" },
      ],
      labelRules: [],
      permissionExamples: [
        {
          effect: "deny",
          rule: "Bash(git push *)",
          example: "Bash(git push origin)",
          matches: true,
          place: at(73, 15),
        },
        { effect: "deny", rule: "Bash(git push *)", example: "Bash(git pull)", matches: false, place: at(74, 19) },
      ],
      strictPermissions: true,
      delegation: {
        maxDepth: 2,
        maxConcurrent: 4,
        iterationsPerDepth: [12, 6],
        timeoutMs: 1000,
        allowRecursive: false,
      },
      maxSteps: 12,
      meta: { enabled: true, maxTools: 1, maxHooks: 20, maxAgents: 5, maxCallDepth: 2 },
      mcpServers: [],
      serve: [
        { type: "stdin", place: at(60, 7), options: {} },
        {
          type: "telegram",
          place: at(61, 7),
          options: { token_env: "BOT", chat_allowlist: [-7], poll_timeout_seconds: 25 },
        },
      ],
      sandbox: "required",
      budgets: { turn: { maxCostUsd: 0.5, maxSteps: 9 }, tree: { maxTokens: 1000, maxCalls: 5, maxWallMs: 60_000 } },
    });
    const [tool] = project?.tools ?? [];
    expect(tool).toEqual({
      kind: "tool",
      name: "echo",
      place: at(25, 5),
      hash: project?.files[0]?.hash,
      tier: "project",
      description: "Says it again.",
      parameters: [
        { name: "message", type: "string", required: true, description: "What to say" },
        { name: "times", type: "integer", required: false, enum: [1, 2] },
      ],
      script: { text: "def run(args):\n    return args\n", place: at(34, 7) },
      timeoutMs: 1000,
      async: false,
    });
    expect(project?.hooks).toMatchObject([
      {
        name: "audit_pre",
        event: "delegation.pre",
        priority: 100,
        timeoutMs: 50,
        onError: "allow",
        when: { text: "True", place: at(40, 12) },
      },
    ]);
    expect(project?.agents).toMatchObject([
      { name: "reader", model: "openai:gpt-6-luna", prompt: "Read.", tools: [{ ref: "echo" }] },
    ]);
  });

  test("may be harness.yaml, which has no body", async () => {
    const folder = createProjectFolder({
      "harness.yaml": "model: anthropic:claude-sonnet-5-5\ncontext: {system_prompt: Hi}\n",
    });
    const { project, problems } = await folder.load();
    expect(problems).toEqual([]);
    expect(project?.identity).toBeUndefined();
    expect(project?.config.model).toEqual({
      model: "anthropic:claude-sonnet-5-5",
      place: { file: "harness.yaml", line: 1, column: 8 },
    });
    expect(project?.config.context).toEqual({ systemPrompt: "Hi", files: [] });
    expect(project?.config.contextDefaults).toEqual({ maxHistory: 50, maxTokens: 128_000 });
  });

  test("has one root file", async () => {
    const folder = createProjectFolder({ "harness.md": markdown(""), "harness.yml": "" });
    expect(await folder.problems()).toEqual(["error second-config harness.yml:1:1"]);
    expect(await folder.problems({ configFile: "harness.yml" })).toEqual([]);
    expect(await folder.problems({ configFile: "gone.md" })).toEqual(["error file-not-found gone.md:1:1"]);
  });

  test("takes artifacts from files, bundles, inline and further roots", async () => {
    const folder = createProjectFolder({
      "harness.md": markdown("artifact_roots: [team]\n"),
      ".harness/tools/greet.md": TOOL,
      ".harness/hooks/audit.md": HOOK,
      ".harness/agents/reader.md": markdown(
        "description: Reads\ntools: [greet, fs.read]\nhooks: [audit]\n",
        "You read.",
      ),
      ".harness/plugins/review.md": markdown(
        "name: pr-review\nversion: '1.0'\ntags: [pr]\ncondition: ctx.get('mode') == 'pr'\ntools:\n  - name: diff\n    script: |\n      def run(args): return 1\nhooks:\n  - handler: nit\n    event: tool.post\n    priority: 3\n    script: |\n      def handle(event, payload): return allow()\n",
        "Rules.",
      ),
      ".harness/overrides/production.md": markdown("priority: 120\n", "Careful."),
      "team/tools/shared.md": TOOL,
      ".harness/tools/.hidden.md": "not read",
      ".harness/tools/note.txt": "not read",
    });
    const { project, problems } = await folder.load();
    expect(problems).toEqual([]);
    expect(project?.tools.map(({ name, bundle }) => [name, bundle])).toEqual([
      ["greet", undefined],
      ["diff", "pr-review"],
      ["shared", undefined],
    ]);
    const condition = {
      text: "ctx.get('mode') == 'pr'",
      place: { file: ".harness/plugins/review.md", line: 5, column: 12 },
    };
    expect(project?.tools[1]?.condition).toEqual(condition);
    expect(project?.hooks.map(({ name, bundle }) => [name, bundle])).toEqual([
      ["audit", undefined],
      ["nit", "pr-review"],
    ]);
    expect(project?.bundles).toMatchObject([
      { name: "pr-review", type: "plugin", priority: 40, version: "1.0", tags: ["pr"], body: "Rules.", condition },
      { name: "production", type: "override", priority: 120, body: "Careful." },
    ]);
    expect(project?.agents).toMatchObject([{ name: "reader", prompt: "You read.", description: "Reads" }]);
  });

  test("reads roots that the caller names, also outside", async () => {
    const folder = createProjectFolder();
    mkdirSync(join(folder.outside, "tools"));
    writeFileSync(join(folder.outside, "tools/far.md"), TOOL);
    const { project } = await folder.load({ extraRoots: [folder.outside] });
    expect(project?.tools.map(({ name, place }) => [name, place.file])).toEqual([
      ["far", join(folder.outside, "tools/far.md")],
    ]);
  });
});

test("all of twelve mistakes are reported, each where it is", async () => {
  const root = join(fixtures, "twelve-mistakes");
  const checker = createFakeScriptChecker();
  const loader = await createProjectLoader({ root, checker, knownTools: ["fs.read", "exec"], trust: trustsAll });
  const loaded = loader.load();
  expect(loaded.project).toBeUndefined();
  expect(problemLines(loaded)).toEqual([
    "error unknown-reference .harness/agents/summarizer.md:4:5",
    "error unknown-event .harness/hooks/audit.md:2:8",
    "warning no-priority .harness/hooks/guard.md:2:8",
    "error script-entry-point .harness/hooks/guard.md:4:3",
    "error never-true .harness/plugins/review.md:3:13",
    "error wrong-value .harness/tools/fetch_page.md:3:16",
    "error script-syntax .harness/tools/fetch_page.md:7:14",
    "error wrong-value harness.md:5:16",
    "warning unknown-key harness.md:7:3",
    "warning shadowed-allow harness.md:12:7",
    "error example-fails harness.md:13:37",
    "error missing-key harness.md:18:7",
  ]);
  const hints = loaded.problems.flatMap(({ nearest }) => nearest ?? []);
  expect(hints).toEqual(["fetch_page", "tool.pre", "max_history"]);
});

describe("a file that cannot be read as it should", () => {
  const problemsOf = (content: string | Uint8Array): Promise<string[]> =>
    createProjectFolder({ ".harness/tools/x.md": content }).problems();
  const at = ".harness/tools/x.md";

  test.each<[string, string | Uint8Array, string[]]>([
    ["no frontmatter", "hello\n", [`error frontmatter-missing ${at}:1:1`]],
    ["empty", "", [`error frontmatter-missing ${at}:1:1`]],
    ["unclosed", "---\nscript: x\n", [`error frontmatter-unclosed ${at}:1:1`]],
    ["bad YAML", "---\nscript: |\n  def run(): 1\n bad\n---\n", [`error yaml ${at}:4:1`]],
    ["a tab", "---\nparameters:\n\turl: 1\n---\n", [`error yaml ${at}:3:1`]],
    ["a list", "---\n- a\n---\n", [`error not-a-map ${at}:2:1`]],
    ["two documents", "---\nasync: true\n...\nasync: true\n---\n", [`error yaml ${at}:4:1`]],
    ["an unknown tag", "---\nasync: !foo true\n---\n", [`warning yaml ${at}:2:8`, `error wrong-value ${at}:2:13`]],
    ["Latin 1", Buffer.from("---\nasync: true\n# caf\xe9\n---\n", "latin1"), [`error not-text ${at}:3:6`]],
    ["NUL", "---\nasync: true\n---\nab\0", [`error not-text ${at}:4:3`]],
    ["too large", "---\n---\n".padEnd(10_000_000, "x"), [`error too-large ${at}:1:1`]],
    ["a head that is too large", `---\n#${"x".repeat(300_000)}\n---\n`, [`error too-large ${at}:1:1`]],
    ["an alias to itself", "---\nparameters: &a [*a]\n---\n", [`error unknown-alias ${at}:2:17`]],
    ["infinity", "---\ntimeout_ms: .inf\n---\n", [`error bad-number ${at}:2:13`]],
  ])("%s", async (_, content, expected) => {
    expect(await problemsOf(content)).toEqual(expected);
  });

  test("nested a thousand times deeper than anybody writes", async () => {
    const found = await problemsOf(markdown(`parameters: ${"[".repeat(50_000)}\n`));
    expect(found).toEqual([expect.stringMatching(/^error yaml /)]);
    expect(await problemsOf(markdown(`parameters: ${"[".repeat(70)}${"]".repeat(70)}\n`))).toEqual([
      `error too-deep ${at}:2:77`,
    ]);
  });

  test("aliases that stand for millions of values", async () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
    for (let name = "a"; name < "h"; ) {
      const next = String.fromCharCode(name.charCodeAt(0) + 1);
      bomb.push(`${next}: &${next} [${Array(10).fill(`*${name}`).join(",")}]`);
      name = next;
    }
    expect(await problemsOf(markdown(`${bomb.join("\n")}\n`))).toEqual([`error too-many-values ${at}:6:8`]);
  });

  test("an alias holds what its anchor does", async () => {
    const folder = createProjectFolder({
      ".harness/tools/x.md": markdown("parameters:\n  a: &p {type: string}\n  b: *p\n"),
    });
    const { project } = await folder.load();
    expect(project?.tools[0]?.parameters.map(({ name, type }) => `${name} ${type}`)).toEqual(["a string", "b string"]);
  });

  test("a byte order mark and Windows line ends change no position", async () => {
    const text = `\uFEFF${markdown("timeout_ms: x\nscript: |\n  def run(args):\n      SYNTAX\n")}`.replaceAll(
      "\n",
      "\r\n",
    );
    expect(await problemsOf(text)).toEqual([`error wrong-value ${at}:2:13`, `error script-syntax ${at}:5:7`]);
  });

  test("a link out of the project, of a file and of a folder", async () => {
    const folder = createProjectFolder({ ".harness/tools/in.md": TOOL });
    writeFileSync(join(folder.outside, "secret.md"), TOOL);
    symlinkSync(join(folder.outside, "secret.md"), join(folder.root, ".harness/tools/out.md"));
    symlinkSync("in.md", join(folder.root, ".harness/tools/same.md"));
    symlinkSync(folder.outside, join(folder.root, ".harness/hooks"));
    symlinkSync("nowhere", join(folder.root, "harness.md"));
    expect(await folder.problems()).toEqual([
      "error outside-project .harness/hooks:1:1",
      "error outside-project .harness/tools/out.md:1:1",
      "error file-not-found harness.md:1:1",
    ]);
  });

  test("folders for files and files for folders", async () => {
    const folder = createProjectFolder({
      ".harness/tools/x.md/inner.md": TOOL,
      ".harness/hooks": "",
      ".harness/tool/y.md": TOOL,
    });
    expect(await folder.problems()).toEqual([
      "error not-a-folder .harness/hooks:1:1",
      "warning not-read .harness/tool:1:1",
      "error not-a-file .harness/tools/x.md:1:1",
    ]);
  });

  test("empty folders at the names of files are nothing: running commands have them", async () => {
    const folder = createProjectFolder({ "harness.yaml": "context: {max_history: 5}\n" });
    for (const name of ["harness.md", "AGENTS.md", ".mcp.json"]) mkdirSync(join(folder.root, name));
    const { project, problems } = await folder.load();
    expect(problems).toEqual([]);
    expect(project?.config.context).toEqual({ maxHistory: 5, files: [] });
  });

  test("what somebody may have meant to be read", async () => {
    const folder = createProjectFolder({
      ".harness/harness.md": markdown(""),
      ".harness/tools/x.yaml": "a: 1",
      ".harness/tools/more/y.md": TOOL,
      ".harness/threads/z.md": "",
    });
    expect(await folder.problems()).toEqual([
      "warning not-read .harness/harness.md:1:1",
      "warning not-read .harness/tools/more:1:1",
      "warning not-read .harness/tools/x.yaml:1:1",
    ]);
  });

  test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    const folder = createProjectFolder({ ".harness/tools/x.md": TOOL });
    chmodSync(join(folder.root, ".harness/tools/x.md"), 0);
    expect(await folder.problems()).toEqual([`error unreadable ${at}:1:1`]);
  });

  test("a context file that is missing, or outside, is told where it is named", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("context:\n  files: [gone.md, ../x, /etc/passwd]\n") });
    expect(await folder.problems()).toEqual([
      "error file-not-found harness.md:3:11",
      "error outside-project harness.md:3:20",
      "error outside-project harness.md:3:26",
    ]);
  });

  test("a checker that throws", async () => {
    const folder = createProjectFolder({ ".harness/tools/x.md": TOOL });
    const checker = {
      ...createFakeScriptChecker(),
      tool: () => {
        throw new Error("bug");
      },
    };
    expect(await folder.problems({ checker })).toEqual([`error check-failed ${at}:1:1`]);
  });
});

describe("refresh", () => {
  /** As if the edit was long ago: the next look may trust the stamps. */
  const settle = (folder: { root: string }, file: string): void => utimesSync(join(folder.root, file), 1, 1);

  test("says nothing while nothing changes, and gives the whole project when something does", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("", "One."), ".harness/tools/a.md": TOOL });
    const loader = await folder.loader();
    const first = loader.load().project;
    expect(loader.refresh()).toBeUndefined();
    folder.write("harness.md", markdown("", "Two."));
    const second = loader.refresh()?.project;
    expect(second?.identity?.text).toBe("Two.");
    expect(second?.tools[0]).toBe(first?.tools[0]);
    expect(second?.version).not.toBe(first?.version);
    expect(loader.refresh()).toBeUndefined();
    folder.write("harness.md", markdown("", "One."));
    expect(loader.refresh()?.project?.version).toBe(first?.version);
  });

  test("sees new, removed and renamed files, and folders that come later", async () => {
    const folder = createProjectFolder();
    const loader = await folder.loader();
    loader.load();
    folder.write(".harness/tools/a.md", TOOL);
    const names = (): string[] | undefined => loader.refresh()?.project?.tools.map(({ name }) => name);
    expect(names()).toEqual(["a"]);
    folder.write(".harness/tools/b.md", TOOL);
    expect(names()).toEqual(["a", "b"]);
    renameSync(join(folder.root, ".harness/tools/a.md"), join(folder.root, ".harness/tools/c.md"));
    expect(names()).toEqual(["b", "c"]);
    folder.remove(".harness");
    expect(names()).toEqual([]);
  });

  test("sees an edit that keeps size and time of change", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("", "One.") });
    settle(folder, "harness.md");
    const loader = await folder.loader();
    loader.load();
    const { atimeMs, mtimeMs } = statSync(join(folder.root, "harness.md"));
    folder.write("harness.md", markdown("", "Two."));
    utimesSync(join(folder.root, "harness.md"), atimeMs / 1000, mtimeMs / 1000);
    expect(loader.refresh()?.project?.identity?.text).toBe("Two.");
  });

  test("sees every one of many edits within a tick of the clock", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("", "0000") });
    const loader = await folder.loader();
    loader.load();
    for (let edit = 1; edit <= 200; edit++) {
      const body = String(edit).padStart(4, "0");
      folder.write("harness.md", markdown("", body));
      expect(loader.refresh()?.project?.identity?.text).toBe(body);
    }
  });

  test("touching a file is no change", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("") });
    const loader = await folder.loader();
    loader.load();
    settle(folder, "harness.md");
    expect(loader.refresh()).toBeUndefined();
  });

  test("gives the problems of a broken edit, and the project when it is mended", async () => {
    const folder = createProjectFolder({ ".harness/hooks/guard.md": HOOK });
    const loader = await folder.loader();
    loader.load();
    folder.write(".harness/hooks/guard.md", HOOK.replace("tool.pre", "tool.pree"));
    const broken = loader.refresh();
    expect(broken?.project).toBeUndefined();
    expect(broken && problemLines(broken)).toEqual(["error unknown-event .harness/hooks/guard.md:2:8"]);
    folder.write(".harness/hooks/guard.md", HOOK);
    expect(loader.refresh()?.project?.hooks).toHaveLength(1);
  });

  test("sees a change of a context file", async () => {
    const folder = createProjectFolder({ "harness.md": markdown("context: {files: [a.txt]}\n"), "a.txt": "1" });
    const loader = await folder.loader();
    loader.load();
    folder.write("a.txt", "2");
    expect(loader.refresh()?.project?.contextFiles).toEqual([{ file: "a.txt", text: "2" }]);
    folder.remove("a.txt");
    expect(loader.refresh()?.problems).toMatchObject([
      { code: "file-not-found", place: { file: "harness.md", line: 2 } },
    ]);
  });
});

describe("trust", () => {
  const FILES = {
    "harness.md": markdown("context: {files: [a.txt]}\n", "Hi."),
    "a.txt": "1",
    ".harness/hooks/guard.md": HOOK,
  };

  test("is asked about every file with its hash; while one waits, no script is looked at and nothing is loaded", async () => {
    const folder = createProjectFolder(FILES);
    writeFileSync(join(folder.outside, "policy.md"), markdown("budgets: {turn: {max_steps: 5}}\n"));
    const checker = createFakeScriptChecker();
    const judged: JudgedFile[][] = [];
    let waits = true;
    const trust: TrustPort = {
      judge(files) {
        judged.push([...files]);
        return { awaiting: waits ? [{ file: "a.txt", kind: "context", change: "changed" }] : [], denied: [] };
      },
    };
    const loader = await folder.loader({ trust, checker, adminPolicy: join(folder.outside, "policy.md") });
    const first = loader.load();
    expect(first).toEqual({
      problems: [
        expect.objectContaining({ severity: "error", code: "needs-ack", place: { file: "a.txt", line: 1, column: 1 } }),
      ],
      awaiting: [{ file: "a.txt", kind: "context", change: "changed" }],
    });
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(judged[0]).toEqual([
      { file: "harness.md", kind: "config", hash: sha256 },
      { file: ".harness/hooks/guard.md", kind: "hook", hash: sha256 },
      { file: "a.txt", kind: "context", hash: sha256 },
    ]);
    expect(loader.refresh()).toBeUndefined();
    expect(checker.asked).toEqual([]);
    waits = false;
    expect(loader.refresh()?.project?.hooks).toHaveLength(1);
    expect(checker.asked).toEqual(["guard"]);
    expect(loader.refresh()).toBeUndefined();
  });

  test("comes after what is broken as it is written: nobody is asked about that", async () => {
    const folder = createProjectFolder({ ...FILES, ".harness/hooks/guard.md": HOOK.replace("tool.pre", "nonsense") });
    const awaiting = [{ file: "harness.md", kind: "config", change: "new" } as const];
    const trust: TrustPort = { judge: () => ({ awaiting, denied: [] }) };
    const loaded = await folder.load({ trust });
    expect(loaded).not.toHaveProperty("awaiting");
    expect(problemLines(loaded)).toEqual(["error unknown-event .harness/hooks/guard.md:2:8"]);
  });

  test("the admin policy alone: nothing that the folder brings is read", async () => {
    const folder = createProjectFolder({ ...FILES, "harness.yaml": "{" });
    const { project } = await folder.load({ adminOnly: true });
    expect(project).toMatchObject({ tools: [], hooks: [], contextFiles: [], files: [] });
  });
});
