/** Hook artifacts as hooks: decisions, conditions, failures and limits. A hook that fails throws; who dispatches it blocks. */
import { describe, expect, test } from "vitest";
import type { HookArtifact } from "#artifacts";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { createScriptRig, hookArtifact, hookCall, hookFrom, source } from "../../test/fakes/script-rig.ts";

function decide(body: string, payload: unknown = {}, fields: Partial<HookArtifact> = {}) {
  const { scripts, workspace } = createScriptRig();
  return hookFrom(scripts, body, fields).handle(hookCall(workspace.ports, payload));
}

describe("a decision", () => {
  test.each<[string, unknown]>([
    ["allow()", { action: "allow" }],
    ["{'action': 'allow'}", { action: "allow" }],
    ["{'decision': 'allow'}", { action: "allow" }],
    ["block('no')", { action: "block", reason: "no" }],
    ["{'action': 'block', 'reason': 'r'}", { action: "block", reason: "r" }],
    ["{'decision': 'block', 'reason': 'r'}", { action: "block", reason: "r" }],
    ["{'action': 'block'}", { action: "block", reason: "blocked without a reason" }],
    ["modify({'a': [1]})", { action: "modify", payload: { a: [1] } }],
    ["{'action': 'modify', 'payload': 'text'}", { action: "modify", payload: "text" }],
  ])("%s", (body, expected) => {
    expect(decide(body)).toEqual(expected);
  });

  test.each([
    ["None", /returned NoneType; want allow\(\), block\(reason\) or modify\(payload\)/],
    ["42", /returned int/],
    ["'allow'", /returned string/],
    ["True", /returned bool/],
    ["[]", /returned list/],
    ["{}", /action is null/],
    ["{'action': 'permit'}", /action is "permit"/],
    ["{'action': 'modify'}", /without a payload/],
    ["modify({'x': float('nan')})", /nan, which JSON cannot hold/],
    ["allow", /cannot convert/],
    ["block(1)", /got int, want string/],
    ["x = []\nx.append(x)\nreturn modify(x)", /cyclic/],
  ])("%s is none and fails", (body, message) => {
    expect(() => decide(body)).toThrow(message);
  });

  test("sees the payload and leaves it as it was", () => {
    const payload = { name: "word_count", arguments: { path: "a" } };
    const body =
      'a = payload.get("arguments", {})\na["more"] = True\npayload["arguments"] = a\nreturn {"action": "modify", "payload": payload}';
    expect(decide(body, payload)).toEqual({
      action: "modify",
      payload: { name: "word_count", arguments: { path: "a", more: true } },
    });
    expect(payload).toEqual({ name: "word_count", arguments: { path: "a" } });
  });

  test("comes without a promise where the script waits for nothing", () => {
    expect(decide("metrics.incr('n')\nlog('x')\nreturn allow()")).not.toBeInstanceOf(Promise);
    expect(decide("sleep(0)\nreturn allow()")).toBeInstanceOf(Promise);
  });

  test("of a hook without a script is to allow", () => {
    const { scripts, workspace } = createScriptRig();
    const { script: _, ...empty } = hookArtifact("");
    expect(scripts.hook(empty).handle(hookCall(workspace.ports, {}))).toEqual({ action: "allow" });
  });
});

describe("when:", () => {
  const matches = (when: string, payload: unknown, values: Record<string, unknown> = {}) => {
    const { scripts, workspace, services } = createScriptRig();
    const call = hookCall(workspace.ports, payload);
    services.states.of(call.session).setValues(values);
    return hookFrom(scripts, "allow()", { when: source(when, 3) }).matches(call);
  };

  test.each<[string, unknown, boolean]>([
    ['payload["name"] == "run"', { name: "run" }, true],
    ['payload["name"] in ["a", "b"]', { name: "run" }, false],
    ['event == "tool.pre" and ctx.get("mode") == "review"', {}, true],
    ['ctx.has("nope") or ctx.get("n", 3) > 3', {}, false],
    ['re.search("rm -rf", payload["c"]) != None', { c: "sudo rm -rf /" }, true],
    ['len(payload.get("content", "")) > 4', { content: "12345" }, true],
    ['time.unix() > 0 and string.lower("A") == "a"', {}, true],
  ])("%s", (when, payload, expected) => {
    expect(matches(when, payload, { mode: "review" })).toBe(expected);
  });

  test("throws where it cannot be told, with the place", () => {
    expect(() => matches('payload["name"] == "x"', {})).toThrow('.harness/x.md:3:10: key "name" not in dict');
    expect(() => matches('payload["name"].nope()', { name: 1 })).toThrow(/.harness\/x.md:3/);
    expect(() => matches("[x for x in range(100000)] != []", {})).toThrow(/too many steps/);
  });

  test.each([
    "cache.get('x')",
    "fs.exists('x')",
    "http.get('x')",
    "exec.run('x')",
    "log('x')",
    "emit('x')",
    "metrics.get('x')",
    "env('X')",
    "secrets.get('X')",
    "print(1)",
    "meta.list_tools()",
    "sleep(1)",
    "random(1, 2)",
    "allow()",
  ])("%s is not there", (when) => {
    expect(() => matches(when, {})).toThrow(/undefined/);
  });

  test("cannot change ctx", () => {
    expect(() => matches("ctx.set('a', 1)", {})).toThrow(/no .set/);
  });
});

describe("a hook that", () => {
  test.each([
    ["raises", "fail('broken')", /.harness\/x.md:6:18: fail: broken/],
    ["loops", "for i in range(1 << 40):\n    pass\nreturn allow()", /too many steps|took too long/],
    [
      "loops over pure functions",
      "for i in range(1 << 40):\n    hash.sha512('x' * 100000)\nreturn allow()",
      /too many steps|took too long|too much memory/,
    ],
    [
      "allocates",
      "x = 'a' * 1000\nfor i in range(1 << 30):\n    x = x + x\nreturn allow()",
      /too large|too much memory/,
    ],
    ["recurses", "return handle(event, payload)", /called recursively/],
    ["sleeps", "sleep(60)\nreturn allow()", /took too long/, 50],
    ["looks for what is not there", "return block(payload['nope'])", /key "nope" not in dict/],
  ] as const)("%s fails", async (_what, body, message, timeoutMs?: number) => {
    const computedMs = computingTime();
    await expect((async () => decide(body, {}, timeoutMs === undefined ? {} : { timeoutMs }))()).rejects.toThrow(
      message,
    );
    expect(computedMs()).toBeLessThan(2_000);
  });

  test("is cancelled ends", async () => {
    const { scripts, workspace } = createScriptRig();
    const cancel = new AbortController();
    const asked = hookFrom(scripts, "sleep(60)\nreturn allow()").handle(
      hookCall(workspace.ports, {}, { signal: cancel.signal }),
    );
    setImmediate(() => cancel.abort());
    await expect(asked).rejects.toThrow(/cancelled/);
  });

  test.each([
    ["tool.pre", "block"],
    ["completion.pre", "block"],
    ["meta.register_tool", "block"],
    ["agent.start", "block"],
    ["turn.start", "block"],
    ["delegation.post_verify", "block"],
    ["tool.post", "allow"],
    ["turn.end", "allow"],
    ["custom.x", "allow"],
  ] as const)("guards %s has on_error %s", (event, expected) => {
    const { scripts } = createScriptRig();
    expect(hookFrom(scripts, "allow()", { event }).onError).toBe(expected);
    expect(hookFrom(scripts, "allow()", { event, onError: "allow" }).onError).toBe("allow");
  });
});

describe("condition:", () => {
  test("sees the values it is given", () => {
    const { scripts } = createScriptRig();
    const condition = scripts.condition(source('ctx.get("mode") == "pull_request"'));
    expect([condition({ mode: "pull_request" }), condition({ mode: "x" }), condition({})]).toEqual([
      true,
      false,
      false,
    ]);
    expect(() => scripts.condition(source("ctx.get('n') > 1"))({})).toThrow(
      ".harness/x.md:5:16: NoneType > int not implemented",
    );
  });
});

test("a hook calls a tool through the chain, as deep as is allowed", async () => {
  const calls: string[] = [];
  const rig = createScriptRig({
    meta: {
      maxCallDepth: 2,
      listTools: () => [{ name: "audit", description: "Audits." }],
      register: async () => undefined,
    },
    async callTool(name, args, at) {
      calls.push(`${name} ${JSON.stringify(args)} ${at.depth}`);
      // The chain asks the hooks of the inner call, this one among them.
      const decision = await hook.handle(hookCall(rig.workspace.ports, { name }));
      return { content: [{ type: "text", text: decision.action === "block" ? decision.reason : "ran" }] };
    },
  });
  const hook = hookFrom(rig.scripts, "return block(meta.call_tool('audit', {'a': 1}))");
  await expect((async () => hook.handle(hookCall(rig.workspace.ports, {})))()).rejects.toThrow(/nest at most 2 deep/);
  expect(calls).toEqual(['audit {"a":1} 0', 'audit {"a":1} 0']);
  const listing = hookFrom(rig.scripts, "block(meta.list_tools('a*')[0]['name'])");
  expect(await listing.handle(hookCall(rig.workspace.ports, {}))).toEqual({ action: "block", reason: "audit" });
});
