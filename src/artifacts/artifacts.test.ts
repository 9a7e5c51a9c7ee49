import { describe, expect, test } from "vitest";
import { createProjectFolder, markdown } from "../../test/fakes/project-folder.ts";
import { applyProject } from "./apply-project.ts";
import { defaultSettings, type Settings } from "./settings.ts";

const HANDLE = "script: |\n  def handle(event, payload): return allow()\n";
const RUN = "script: |\n  def run(args): return 1\n";

const hookHead = (head: string): Promise<string[]> =>
  createProjectFolder({ ".harness/hooks/h.md": markdown(head) })
    .problems()
    .then((lines) => lines.map((line) => line.replace(" .harness/hooks/h.md:", " ")));

const rootHead = (head: string): Promise<string[]> =>
  createProjectFolder({ "harness.md": markdown(head) })
    .problems()
    .then((lines) => lines.map((line) => line.replace(" harness.md:", " ")));

describe("hooks", () => {
  test("know every event, its aliases and custom ones", async () => {
    const events = ["turn.start", "delegation.post_verify", "context.compact", "error", "custom.my_event.x"];
    for (const event of events) expect(await hookHead(`event: ${event}\npriority: 1\n${HANDLE}`)).toEqual([]);
    const aliased = createProjectFolder({
      ".harness/hooks/a.md": markdown(`event: agent.turn\npriority: 1\n${HANDLE}`),
      ".harness/hooks/b.md": markdown(`event: meta.tool_register\npriority: 1\n${HANDLE}`),
    });
    expect((await aliased.load()).project?.hooks.map(({ event }) => event)).toEqual([
      "turn.start",
      "meta.register_tool",
    ]);
  });

  test.each(["custom.", "custom.Upper", "meta.anything", "toolpre", "constructor"])(
    "refuse the event %s",
    async (event) => {
      expect(await hookHead(`event: ${event}\npriority: 1\n${HANDLE}`)).toEqual(["error unknown-event 2:8"]);
    },
  );

  test("need an event, want a priority and a script", async () => {
    expect(await hookHead("priority: 1\n")).toEqual(["error missing-key 1:1"]);
    expect(await hookHead("event:\n")).toEqual(["error missing-key 2:7"]);
    expect(await hookHead("event: tool.pre\n")).toEqual(["warning no-priority 2:8", "warning no-script 2:8"]);
    expect(await hookHead("event: tool.pre\npriority: high\ntimeout_ms: 0\nscript: ''\non_error: ignore\n")).toEqual([
      "warning no-priority 2:8",
      "warning no-script 2:8",
      "error wrong-value 3:11",
      "error wrong-value 4:13",
      "error empty-script 5:9",
      "error wrong-value 6:11",
    ]);
  });

  test("have examples as whole payloads", async () => {
    const examples = "match:\n  - exec\n  - {name: fs.read, args: {path: /etc}}\nnot_match: [fs.list]\n";
    const folder = createProjectFolder({
      ".harness/hooks/pre.md": markdown(`event: tool.pre\npriority: 1\n${examples}${HANDLE}`),
      ".harness/hooks/post.md": markdown(`event: tool.post\npriority: 1\nmatch: [{name: x, content: y}]\n${HANDLE}`),
      ".harness/hooks/turn.md": markdown(`event: turn.start\npriority: 1\nmatch: [hello]\n${HANDLE}`),
    });
    const hooks = (await folder.load()).project?.hooks ?? [];
    const payloads = hooks.map(({ match }) => match.map(({ payload }) => payload));
    expect(payloads).toEqual([
      [{ call_id: "example", name: "x", args: {}, content: "y", result: "y", is_error: false }],
      [
        { id: "example", name: "exec", args: {}, arguments: {}, arguments_json: "{}" },
        {
          id: "example",
          name: "fs.read",
          args: { path: "/etc" },
          arguments: { path: "/etc" },
          arguments_json: '{"path":"/etc"}',
        },
      ],
      ["hello"],
    ]);
    expect(hooks[1]?.notMatch[0]?.place).toEqual({ file: ".harness/hooks/pre.md", line: 7, column: 13 });
  });

  test("say where their code is, however it is written", async () => {
    const places = async (head: string) => {
      const folder = createProjectFolder({ ".harness/hooks/h.md": markdown(`event: tool.pre\npriority: 1\n${head}`) });
      const { project, problems } = await folder.load();
      const { when, script } = project?.hooks[0] ?? {};
      const at = (one: typeof when) => one && `${one.place.line}:${one.place.column}`;
      return [at(when), at(script), ...problems.map(({ code }) => code)];
    };
    expect(await places("when: payload == 1\nscript: |\n  def handle(\n")).toEqual(["4:7", "6:3"]);
    expect(await places("when: 'payload == 1'\nscript: |2\n    def handle(\n")).toEqual(["4:8", "6:3"]);
    expect(await places('when: "payload == 1"\nscript: |-\n\n\n     def handle(\n')).toEqual(["4:8", "6:6"]);
    expect(await places("when: |\n  payload == 1\nscript: 'def handle('\n")).toEqual(["5:3", "6:10"]);
    expect(await places("script: >\n  def handle(\n  x\n")).toEqual([undefined, "5:3", "script-style"]);
    expect(await places("when: payload == 1\n  and True\nscript: def handle(\n")).toEqual([
      "4:7",
      "6:9",
      "script-style",
    ]);
  });
});

describe("tools", () => {
  test("take their name from the file and their description from the body", async () => {
    const folder = createProjectFolder({
      ".harness/tools/a.md": markdown(`name: b\ndescription: c\n${RUN}`, "\n\nBody\n\n"),
      ".harness/tools/d.md": markdown(`description: e\n${RUN}`),
      ".harness/tools/f.md": markdown(RUN),
      ".harness/tools/g h.md": markdown(RUN),
    });
    expect(await folder.problems()).toEqual([
      "warning ignored-key .harness/tools/a.md:2:7",
      "warning ignored-key .harness/tools/a.md:3:14",
      "error bad-name .harness/tools/g h.md:1:1",
    ]);
    folder.remove(".harness/tools/g h.md");
    const tools = (await folder.load()).project?.tools;
    expect(tools?.map(({ name, description }) => [name, description])).toEqual([
      ["a", "Body"],
      ["d", "e"],
      ["f", "f"],
    ]);
  });

  test("have checked parameters", async () => {
    const head =
      "tools:\n  - name: x\n    parameters:\n      a: {type: text}\n      b: string\n      c: {required: yes}\n      '1 2': {type: int}\n      d: {type: int, enum: [[1]]}\n";
    expect(await rootHead(head)).toEqual([
      "error wrong-value 5:17",
      "error wrong-value 6:10",
      "error missing-key 7:10",
      "error wrong-value 7:21",
      "error bad-name 8:7",
      "error wrong-value 9:28",
    ]);
    expect(await rootHead("tools: [{script: 'def run('}]\n")).toEqual(["error missing-key 2:9"]);
    expect(await rootHead("tools: {a: 1}\n")).toEqual(["error wrong-value 2:8"]);
  });
});

describe("the root file", () => {
  test("is empty and valid", async () => {
    expect(await rootHead("")).toEqual([]);
  });

  test("warns about unknown and repeated keys at every level", async () => {
    const head =
      "modl: x\nmodel:\n  provider: a\n  name: b\n  retry:\n    max_retries: 1\n    max_retrys: 2\n    max_retries: 3\nx: {y: 1}\n__proto__: 1\n";
    const folder = createProjectFolder({ "harness.md": markdown(head) });
    const { project, problems } = await folder.load();
    expect(problems.map(({ code, place, nearest }) => [code, place.line, nearest])).toEqual([
      ["unknown-key", 2, "model"],
      ["unknown-key", 8, "max_retries"],
      ["duplicate-key", 9, undefined],
      ["unknown-key", 10, undefined],
      ["unknown-key", 11, undefined],
    ]);
    expect(project?.config.model?.retry).toEqual({ maxRetries: 3 });
  });

  test("sets the time limits of a model in seconds", async () => {
    const head = "model: {name: x, timeouts: {headers_s: 5, first_token_s: 60, chunk_s: 0.5, step_s: 90}}\n";
    const { project, problems } = await createProjectFolder({ "harness.md": markdown(head) }).load();
    expect(problems).toEqual([]);
    const timeouts = { headersMs: 5_000, firstTokenMs: 60_000, chunkMs: 500, stepMs: 90_000 };
    expect(project?.config.model?.timeouts).toEqual(timeouts);
  });

  test.each([
    ["model: gpt-4o\n", "error wrong-value 2:8"],
    ["model: {provider: openai}\n", "error missing-key 2:8"],
    ["model: {name: x, max_tokens: 0}\n", "error wrong-value 2:30"],
    ["model: {name: x, base_url: file:///etc}\n", "error wrong-value 2:28"],
    ["model: {name: x, retry: {multiplier: -1}}\n", "error wrong-value 2:38"],
    ["model: {name: x, timeouts: {step_s: 0}}\n", "error wrong-value 2:37"],
    ["model: {name: x, timeouts: {chunk_s: 90000}}\n", "error wrong-value 2:38"],
    ["context: {max_history: 1.5}\n", "error wrong-value 2:24"],
    ["delegation: {iterations_per_depth: []}\n", "error wrong-length 2:36"],
    ["delegation: {max_depth: 11}\n", "error wrong-value 2:25"],
    ["meta: {enabled: yes}\n", "error wrong-value 2:17"],
    ["serve: {}\n", "error missing-key 2:8"],
    ["serve: {sources: []}\n", "error wrong-length 2:18"],
    ["serve: {sources: [{type: telegrm}]}\n", "error wrong-value 2:26"],
    ["serve: {sources: [{type: stdin}, {type: stdin}]}\n", "error duplicate-source 2:34"],
    ["network: {allowed_domains: ['https://x.com']}\n", "error bad-pattern 2:29"],
    ["network: {allowed_domains: ['a*.com']}\n", "error bad-pattern 2:29"],
    ["network: {allowed_domains: ['']}\n", "error wrong-value 2:29"],
    ["permissions: {allow: ['']}\n", "error wrong-value 2:23"],
    ["permissions: {allow: [{match: [x]}]}\n", "error missing-key 2:23"],
    ["sandbox: on\n", "error wrong-value 2:10"],
    ["budgets: {turn: {max_cost_usd: -1}}\n", "error wrong-value 2:32"],
    ["artifact_roots: [../other]\n", "error outside-project 2:18"],
    ["artifact_roots: [gone]\n", "error file-not-found 2:18"],
    ["? [a]\n: 1\n", "error bad-key 2:3"],
  ])("%j", async (head, expected) => {
    expect(await rootHead(head)).toEqual([expected]);
  });

  test.each(["*", "example.com", "*.example.com", "127.0.0.1", "::1", "[::1]", "bücher.example"])(
    "reaches %s",
    async (host) => {
      expect(await rootHead(`network: {allowed_domains: ['${host}']}\n`)).toEqual([]);
    },
  );
});

describe("names and references", () => {
  test("are unique over all sources", async () => {
    const folder = createProjectFolder({
      "harness.md": markdown(
        `tools:\n  - name: greet\n    script: 'def run('\nagents:\n  - {name: a, description: x}\n`,
        "I.",
      ),
      ".harness/tools/greet.md": markdown(RUN),
      ".harness/tools/fs.read.md": markdown(RUN),
      ".harness/hooks/h.md": markdown(`event: error\npriority: 1\n${HANDLE}`),
      ".harness/agents/a.md": markdown("description: y\ntools: [greet, greet]\n"),
      ".harness/plugins/p.md": markdown(
        `name: q\nhooks:\n  - name: h\n    event: error\n    priority: 1\n    script: def handle(\n`,
      ),
      ".harness/overrides/q.md": markdown("type: harness\n"),
    });
    const { problems } = await folder.load();
    expect(problems.map(({ code, place, message }) => `${code} ${place.file}:${place.line} ${message}`)).toEqual([
      'duplicate-name .harness/agents/a.md:1 The agent "a" is already defined in harness.md:6.',
      'duplicate-name .harness/agents/a.md:3 The tool "greet" is already defined in .harness/agents/a.md:3.',
      'duplicate-name .harness/overrides/q.md:1 The bundle "q" is already defined in .harness/plugins/p.md:1.',
      "second-identity .harness/overrides/q.md:1 A project has only one identity, and harness.md already defines it.",
      'duplicate-name .harness/plugins/p.md:4 The hook "h" is already defined in .harness/hooks/h.md:1.',
      'duplicate-name .harness/tools/fs.read.md:1 A built-in tool already has the name "fs.read".',
      'duplicate-name .harness/tools/greet.md:1 The tool "greet" is already defined in harness.md:3.',
    ]);
  });

  test("lead somewhere, to definitions in any file", async () => {
    const folder = createProjectFolder({
      "harness.md": markdown("model: anthropic:big\nmodels: [openai:small]\n"),
      ".harness/agents/a.md": markdown(
        `description: x\nmodel: small\ntools:\n  - fs.read\n  - later\n  - mcp.github.issues\n  - name: mine\n    script: def run(\n  - fs.raed\nhooks: [guard]\ntools_policy: {allow: [mine]}\n`,
      ),
      ".harness/agents/b.md": markdown("description: x\nmodel: {provider: zai, name: glm, api_key_env: K}\n"),
      ".harness/agents/c.md": markdown("model: medium\n"),
      ".harness/plugins/p.md": markdown("tools:\n  - name: later\n    script: def run(\n"),
    });
    const { problems } = await folder.load();
    expect(problems.map(({ code, place: { file, line }, nearest }) => [code, `${file}:${line}`, nearest])).toEqual([
      ["unknown-reference", ".harness/agents/a.md:10", "fs.read"],
      ["unknown-reference", ".harness/agents/a.md:11", undefined],
      ["no-description", ".harness/agents/c.md:1", undefined],
      ["unknown-model", ".harness/agents/c.md:2", undefined],
    ]);
    folder.write(".harness/agents/a.md", markdown("description: x\nmodel: small\ntools: [later]\n"));
    const agents = (await folder.load()).project?.agents;
    expect(agents?.map(({ model, modelConfig }) => [model, modelConfig?.apiKeyEnv])).toEqual([
      ["openai:small", undefined],
      ["zai:glm", "K"],
      ["anthropic:medium", undefined],
    ]);
  });
});

describe("settings", () => {
  const user: Settings = {
    ...defaultSettings,
    models: [
      { model: "openai:a", apiKeyEnv: "MINE", temperature: 1 },
      { model: "openai:b", headers: { secret: "x" } },
    ],
    permissions: [{ effect: "deny", rule: "Bash", source: "config.toml:1" }],
    strictPermissions: true,
    maxSteps: 30,
    budgets: { turn: { maxSteps: 9, maxCalls: 3 } },
  };
  const applied = async (head: string): Promise<Settings> => {
    const { project } = await createProjectFolder({ "harness.md": markdown(head) }).load();
    if (project === undefined) throw new Error("the project did not load");
    return applyProject(user, project);
  };

  test("stay as they are under a project that says nothing", async () => {
    expect(await applied("")).toEqual(user);
  });

  test("take the project's models, filled from the user's own", async () => {
    const { models } = await applied(
      "model: {provider: openai, name: a, temperature: 0}\nmodels: [openai:c, openai:a]\n",
    );
    expect(models).toEqual([
      { model: "openai:a", apiKeyEnv: "MINE", temperature: 0, maxTokens: 4096 },
      { model: "openai:c", temperature: 0.7, maxTokens: 4096 },
    ]);
  });

  test("keep keys and headers from an address that the project names", async () => {
    const { models } = await applied("model: {provider: openai, name: b, base_url: 'https://elsewhere.example'}\n");
    expect(models).toMatchObject([{ model: "openai:b", baseUrl: "https://elsewhere.example", fromProject: true }]);
    expect(models[0]).not.toHaveProperty("headers");
  });

  test("take an address and a key from the project where the user has named the same", async () => {
    const asked = "model: {provider: custom, name: x, base_url: 'https://gate.example/v1/', api_key_env: GATE_KEY}\n";
    const users = {
      ...user,
      models: [{ model: "custom:y", baseUrl: "https://gate.example/v1", apiKeyEnv: "GATE_KEY" }],
    };
    const { project } = await createProjectFolder({ "harness.md": markdown(asked) }).load();
    if (project === undefined) throw new Error("the project did not load");
    expect(applyProject(users, project).models[0]).not.toHaveProperty("fromProject");
    const [other] = users.models;
    for (const change of [{ baseUrl: "https://other.example/v1" }, { apiKeyEnv: "OTHER" }, { model: "openai:y" }]) {
      const differs = { ...users, models: [{ ...other, ...change } as Settings["models"][number]] };
      expect(applyProject(differs, project).models[0]).toHaveProperty("fromProject", true);
    }
  });

  test("take the limit of steps, and nothing that may change while a session runs", async () => {
    const settings = await applied(
      "permissions: {allow: [Read], strict: true}\ndelegation: {iterations_per_depth: [12]}\nbudgets: {turn: {max_steps: 4}}\n",
    );
    expect(settings).toEqual({ ...user, maxSteps: 12 });
    expect((await applied("delegation: {iterations_per_depth: [40]}\n")).maxSteps).toBe(40);
  });
});

test("an error is told however many warnings there are", async () => {
  const warnings = Array.from({ length: 1500 }, (_, index) => `k${index}: 1`).join("\n");
  const { project, problems } = await createProjectFolder({
    "harness.md": markdown(`${warnings}\nsandbox: on\n`),
  }).load();
  expect(project).toBeUndefined();
  expect(problems).toHaveLength(1000);
  expect(problems.at(-1)).toMatchObject({ code: "wrong-value", place: { line: 1502, column: 10 } });
});
