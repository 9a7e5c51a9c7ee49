/** Tool artifacts as tools: schema, class, results, failures and limits. */
import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createScriptRig, mustTool, scriptContext, toolArtifact } from "../../test/fakes/script-rig.ts";

describe("a tool", () => {
  test("has the parameters in order and lets others pass", () => {
    const { scripts } = createScriptRig();
    const tool = mustTool(
      scripts,
      toolArtifact("def run(args): return 1", {
        name: "greet",
        description: "Greets.",
        timeoutMs: 3000,
        parameters: [
          { name: "z", type: "string", required: true, description: "Last" },
          { name: "a", type: "number", required: false },
        ],
      }),
    );
    expect({ ...tool, run: undefined }).toEqual({
      name: "greet",
      label: "greet",
      class: "read_only",
      description: "Greets.",
      timeoutMs: 3000,
      parameters: {
        type: "object",
        properties: { z: { type: "string", description: "Last" }, a: { type: "number" } },
        required: ["z"],
        additionalProperties: true,
      },
      run: undefined,
    });
    expect(Object.keys(tool.parameters.properties as object)).toEqual(["z", "a"]);
  });

  test("without a script is declared only", () => {
    const { script: _, ...declared } = toolArtifact("");
    expect(createScriptRig().scripts.tool(declared)).toBeUndefined();
  });

  test.each([
    ["return fs.read('a')", "read_only"],
    ["return http.get('https://x')", "sensitive"],
    ["return http.post('https://x')", "mutating"],
    ["return exec.run('ls')", "mutating"],
    ["fs.write('a', 'b')", "mutating"],
    ["return meta.call_tool('x')", "mutating"],
    ["return meta.list_tools()", "read_only"],
    ["f = fs\n    return f.read('a')", "mutating"],
    ["return getattr(fs, 're' + 'ad')('a')", "mutating"],
    ["return [m.get for m in [http]]", "mutating"],
    ["fs = {}\n    return fs", "read_only"],
    ["return (exec).run", "mutating"],
  ])("that does %j is %s", (body, expected) => {
    const { scripts } = createScriptRig();
    expect(mustTool(scripts, toolArtifact(`def run(args):\n    ${body}\n`)).class).toBe(expected);
  });
});

describe("a result", () => {
  const output = (body: string) => createScriptRig().output(body);
  const text = (value: string, isError?: boolean) => ({
    content: [{ type: "text", text: value }],
    ...(isError === true && { isError }),
  });

  test.each<[string, string, boolean?]>([
    ["{'b': 1, 'a': [True, None, 1.5]}", '{"b":1,"a":[true,null,1.5]}'],
    ["[1, (2, 3)]", "[1,[2,3]]"],
    ["7", "7"],
    ["None", "null"],
    ["1 << 70", "1180591620717411303424"],
    ["'plain text'", "plain text"],
    ["json.encode({'a': 1})", '{"a":1}'],
    ["set([1, 2])", "[1,2]"],
    ["{'error': 'no such file'}", '{"error":"no such file"}', true],
    ["json.encode({'error': 'x'})", '{"error":"x"}', true],
    ["{'error': None}", '{"error":null}'],
    ["{'error': ''}", '{"error":""}'],
  ])("%s", async (body, expected, isError) => {
    expect(await output(body)).toEqual(text(expected, isError));
  });

  test.each([
    ["fail('nope', 3)", "fail: nope 3\n  at .harness/x.md:6:18 in run"],
    ["1 // 0", "floored division by zero\n  at .harness/x.md:6:16 in run"],
    ["len", "cannot convert builtin_function_or_method to a host value"],
    ["float('nan')", "probe returned what is not JSON: the value is nan, which JSON cannot hold"],
    ["{'a': {'b': [float('inf')]}}", "probe returned what is not JSON: a.b[0] is +inf, which JSON cannot hold"],
    ["{1: 2}", "probe returned what is not JSON: the value has a key that is not a string, which JSON cannot hold"],
    ["b'x'", "probe returned what is not JSON: the value is bytes, which JSON cannot hold"],
    ["x = []\nx.append(x)\nreturn x", "cannot convert a cyclic value"],
    ["x = [0]\nfor i in range(60):\n    x = [x, x]\nreturn x", "value has more than 2000000 parts"],
  ])("%s is an error that says why", async (body, expected) => {
    expect(await output(body)).toEqual(text(expected, true));
  });

  test("places its failure in the file, through functions", async () => {
    const { scripts, workspace } = createScriptRig();
    const tool = mustTool(
      scripts,
      toolArtifact("def helper(x):\n    fail('deep')\n\ndef run(args):\n    return helper(1)\n"),
    );
    expect(await tool.run({}, scriptContext(workspace.ports))).toEqual(
      text("fail: deep\n  at .harness/x.md:6:11 in helper\n  at .harness/x.md:9:20 in run", true),
    );
  });
});

describe("a script that", () => {
  const run = async (body: string, timeoutMs?: number) => {
    const { scripts, workspace } = createScriptRig();
    const tool = mustTool(
      scripts,
      toolArtifact(`def run(args):\n    ${body}\n`, timeoutMs === undefined ? {} : { timeoutMs }),
    );
    const computedMs = computingTime();
    const outcome = await tool.run({}, scriptContext(workspace.ports)).then(
      ({ content: [block] }) => (block?.type === "text" ? block.text : ""),
      (error: Error) => error.message,
    );
    expect(computedMs()).toBeLessThan(5_000);
    return outcome;
  };

  test.each([
    ["loops", "for i in range(1 << 40):\n        pass", undefined, /too many steps/],
    ["loops and may wait", "sleep\n    for i in range(1 << 40):\n        pass", undefined, /too many steps/],
    [
      "loops past its time",
      "sleep\n    for i in range(1 << 40):\n        pass",
      20,
      /too many steps|longer than 20 ms/,
    ],
    [
      "allocates",
      "x = ['a' * 1000000]\n    for i in range(1 << 20):\n        x.append(x[0] + str(i))",
      undefined,
      /too much memory|too many steps/,
    ],
    [
      "reads without end",
      "x = []\n    for i in range(1 << 20):\n        x.append(json.encode('a' * 1000000))",
      undefined,
      /too much memory/,
    ],
    ["makes one huge value", "return 'a' * (1 << 30)", undefined, /excessive repeat/],
    ["recurses", "return run(args)", undefined, /called recursively/],
    ["sleeps past its time", "sleep(60)", 30, /longer than 30 ms/],
    ["waits for a program past its time", "return exec.run('sleep', ['60'])", 100, /longer than 100 ms/],
  ])("%s is stopped", async (_what, body, timeoutMs, message) => {
    expect(await run(body, timeoutMs)).toMatch(message);
  });

  test("sleeps wakes by the clock, and at once when the call is cancelled", async () => {
    const clock = createManualClock();
    const { scripts, workspace } = createScriptRig({ clock });
    const tool = mustTool(scripts, toolArtifact("def run(args):\n    sleep(0.25)\n    return 'awake'\n"));
    const first = tool.run({}, scriptContext(workspace.ports));
    await clock.advance(250);
    expect((await first).content).toEqual([{ type: "text", text: "awake" }]);
    const cancel = new AbortController();
    const second = tool.run({}, scriptContext(workspace.ports, { signal: cancel.signal }));
    setImmediate(() => cancel.abort());
    await expect(second).rejects.toThrow(/cancelled/);
    expect(clock.sleeping).toBe(0);
  });

  test("keeps nothing from call to call, at top level either", async () => {
    const { scripts, workspace } = createScriptRig();
    const script =
      "seen = []\nmetrics.incr('init')\n\ndef run(args):\n    seen.append(1)\n    return [len(seen), metrics.get('init')]\n";
    const tool = mustTool(scripts, toolArtifact(script));
    const results = [];
    for (let i = 0; i < 2; i++) results.push((await tool.run({}, scriptContext(workspace.ports))).content[0]);
    expect(results).toEqual([
      { type: "text", text: expect.stringContaining("cannot append to frozen list") },
      { type: "text", text: expect.stringContaining("cannot append to frozen list") },
    ]);
    expect(await createScriptRig().evaluate("metrics.get('init')")).toBe(0);
  });
});
