/** What a run adds to itself: caps, checks, the event before it takes effect, and calls. */
import { describe, expect, test } from "vitest";
import type { AgentArtifact, MetaConfig, Problem } from "#artifacts";
import type { HookDispatcher, HookVerdict, Tool } from "#engine";
import { createWorkspaceFiles } from "#world";
import {
  createScriptRig,
  hookArtifact,
  hookCall,
  mustTool,
  scriptContext,
  source,
  toolArtifact,
} from "../../test/fakes/script-rig.ts";
import { createMetaRegistry, type MetaParser } from "./meta-registry.ts";
import { createScriptChecker } from "./script-checker.ts";

const problem: Problem = {
  severity: "error",
  code: "wrong-value",
  place: { file: "meta", line: 1, column: 1 },
  message: "parameters must be a map",
};

/** Enough of the file parsers for these tests. */
const parser: MetaParser = {
  tool: ({ name, description, script, parameters }) =>
    typeof parameters === "object"
      ? {
          artifact: toolArtifact(String(script), { name: String(name), description: String(description) }),
          problems: [],
        }
      : { problems: [problem] },
  hook: ({ name, event, script, when }) => ({
    artifact: hookArtifact(String(script), {
      name: String(name),
      event: String(event),
      ...(typeof when === "string" && { when: source(when) }),
    }),
    problems: [],
  }),
  agent: ({ name, prompt }) => ({
    artifact: {
      kind: "agent",
      name: String(name),
      prompt: String(prompt),
      description: "",
      tools: [],
      hooks: [],
      place: problem.place,
      hash: "0",
      tier: "project",
    } satisfies AgentArtifact,
    problems: [],
  }),
};

function createRig(
  verdictOf: (event: string, payload: unknown) => HookVerdict = (_event, payload) => ({
    blocked: false,
    payload,
    attributes: {},
  }),
) {
  const asked: string[] = [];
  let config: MetaConfig = { enabled: true, maxTools: 2, maxHooks: 1, maxAgents: 1, maxCallDepth: 1 };
  const hooks: HookDispatcher = {
    idle: () => false,
    async dispatch(event, payload) {
      asked.push(event);
      return verdictOf(event, payload);
    },
  };
  const registry = createMetaRegistry({
    config: () => config,
    parser,
    checker: createScriptChecker(),
    scripts: () => rig.scripts,
    hooks,
    taken: (kind) => (kind === "tool" ? ["fs.read"] : []),
    tools: () => registry.source.tools(),
  });
  const rig = createScriptRig({ meta: registry, maxCallDepth: 1 });
  const register = (name: string, script = "def run(args):\n    return 'made'\n") =>
    rig.evaluate(`meta.register_tool(args["n"], "Made.", {}, args["s"])`, { n: name, s: script });
  const configure = (change: Partial<MetaConfig>): void => {
    config = { ...config, ...change };
  };
  return { asked, registry, rig, register, configure };
}

const named = (tools: readonly Tool[], name: string): Tool => {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};

describe("registering", () => {
  test("asks the hooks, then adds the tool for the next step", async () => {
    const { asked, registry, rig, register } = createRig();
    expect(registry.source.tools().map(({ name }) => name)).toEqual([
      "meta.register_tool",
      "meta.register_hook",
      "meta.register_agent",
      "meta.list_tools",
      "meta.call_tool",
    ]);
    await register("greet");
    expect(asked).toEqual(["meta.register_tool"]);
    const made = named(registry.source.tools(), "greet");
    expect((await made.run({}, scriptContext(rig.workspace.ports))).content).toEqual([{ type: "text", text: "made" }]);
    expect(await rig.evaluate("meta.list_tools('gr[!a]*')")).toEqual([{ name: "greet", description: "Made." }]);
    await expect(rig.evaluate("meta.list_tools('gr[')")).rejects.toThrow(
      /is not a pattern for tools: a `\[` is not closed/,
    );
  });

  test("is refused where a hook blocks, with its reason", async () => {
    const { registry, register } = createRig(() => ({
      blocked: true,
      reason: "banned prefix",
      hook: "meta_tool_guard",
      source: "x:1",
    }));
    await expect(register("exec_all")).rejects.toThrow('blocked by hook "meta_tool_guard": banned prefix');
    expect(registry.source.tools()).toHaveLength(5);
  });

  test("takes what a hook made of it, checked again", async () => {
    const { registry, register } = createRig((_event, payload) => ({
      blocked: false,
      payload: { ...(payload as object), name: "safe_greet" },
      attributes: {},
    }));
    await register("greet");
    expect(registry.source.tools().at(-1)?.name).toBe("safe_greet");
    const broken = createRig((_event, payload) => ({
      blocked: false,
      payload: { ...(payload as object), script: "def run(" },
      attributes: {},
    }));
    await expect(broken.register("greet")).rejects.toThrow(/got end of file/);
    expect(broken.registry.source.tools()).toHaveLength(5);
  });

  test.each([
    ["fs.read", undefined, /the tool fs.read already exists/],
    ["meta.evil", undefined, /is not a name for a tool/],
    ["a b", undefined, /is not a name for a tool/],
    ["ok", "def run(args):\n    return isinstance(1)\n", /6:14: undefined: isinstance/],
    ["ok", "def main(args):\n    return 1\n", /has no function run \(expected: def run\(args\):\)/],
  ])("%s is refused: %s", async (name, script, message) => {
    const { asked, register } = createRig();
    await expect(register(name, script)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  test("stays within its caps", async () => {
    const { register, rig, registry } = createRig();
    await register("a");
    await register("b");
    await expect(register("a")).rejects.toThrow(/already/);
    await expect(register("c")).rejects.toThrow(/at most 2 tools may be registered \(meta.max_tools\)/);
    const hook = (name: string) =>
      rig.evaluate(
        `meta.register_hook(args["n"], "tool.pre", "def handle(event, payload):\\n    return block('x')\\n", when="True")`,
        { n: name },
      );
    await hook("h");
    expect(registry.hooks.hooks("tool.pre")[0]?.handle(hookCall(rig.workspace.ports, {}))).toEqual({
      action: "block",
      reason: "x",
    });
    await expect(hook("i")).rejects.toThrow(/meta.max_hooks/);
    await rig.evaluate("meta.register_agent('r', prompt='Research.')");
    expect(registry.agents().map(({ name, prompt }) => [name, prompt])).toEqual([["r", "Research."]]);
    await expect(rig.evaluate("meta.agent_register('s', prompt='')")).rejects.toThrow(/meta.max_agents/);
  });
});

test("a tightened configuration holds at once, also for what is registered", async () => {
  const { register, registry, configure } = createRig();
  const made = () => registry.source.tools().filter(({ name }) => !name.startsWith("meta."));
  await register("a");
  await register("b");
  configure({ maxTools: 1, maxCallDepth: 0 });
  expect(made().map(({ name }) => name)).toEqual(["a"]);
  expect(registry.maxCallDepth).toBe(0);
  configure({ enabled: false });
  expect(registry.source.tools()).toEqual([]);
  await expect(register("c")).rejects.toThrow(/meta is not enabled/);
});

describe("the model's own meta tools", () => {
  test("register, list and call", async () => {
    const { registry, rig } = createRig();
    const context = scriptContext(rig.workspace.ports, {
      call: async (name, args) => ({ content: [{ type: "text", text: `${name} ${JSON.stringify(args)}` }] }),
    });
    const call = (name: string, args: Record<string, unknown>) =>
      named(registry.source.tools(), name).run(args, context);
    expect(
      (
        await call("meta.register_tool", {
          name: "t",
          description: "d",
          parameters: {},
          script: "def run(args): return 1",
        })
      ).content,
    ).toEqual([{ type: "text", text: '{"registered":"t"}' }]);
    await expect(
      call("meta.register_tool", { name: "u", description: "d", parameters: 1, script: "" }),
    ).rejects.toThrow("1:1: parameters must be a map");
    expect((await call("meta.list_tools", { pattern: "t" })).content).toEqual([
      { type: "text", text: '[{"name":"t","description":"d"}]' },
    ]);
    expect((await call("meta.call_tool", { name: "t", args: { a: 1 } })).content).toEqual([
      { type: "text", text: 't {"a":1}' },
    ]);
  });

  test("are not there where meta is not enabled, and scripts say so", async () => {
    const rig = createScriptRig();
    await expect(rig.evaluate("meta.list_tools()")).rejects.toThrow(/meta is not enabled: set meta.enabled/);
  });
});

test("calls of tools by scripts end at the cap, whoever started them", async () => {
  const { rig } = createRig();
  let runs = 0;
  const tool = mustTool(
    rig.scripts,
    toolArtifact("def run(args):\n    return meta.call_tool('again', {}, timeout_seconds=5)\n", { name: "again" }),
  );
  const context = scriptContext(
    { ...rig.workspace.ports, files: createWorkspaceFiles(rig.workspace.root) },
    {
      call: (_name, args, options) => {
        runs += 1;
        expect(options).toEqual({ timeoutMs: 5000 });
        return tool.run(args, context);
      },
    },
  );
  const { content } = await tool.run({}, context);
  expect(content).toEqual([
    { type: "text", text: expect.stringContaining("nest at most 1 deep (meta.max_call_depth)") },
  ]);
  expect(runs).toBe(1);
});
