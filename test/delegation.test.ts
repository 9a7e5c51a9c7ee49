/** Work handed to other agents, in the whole program: lifecycle, inheritance, limits. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import type { FakeResponse } from "./fakes/fake-provider.ts";
import { agentFile, answers, delegates, HARNESS, lastText, makes, type Roles, textsOf } from "./fakes/roles.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const agents = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`.harness/agents/${name}.md`, text]));
const hook = (event: string, body: string, head = "") =>
  `---\nevent: ${event}\npriority: 1\n${head}script: |\n  def handle(event, payload):\n      ${body}\n---\n`;
const harness = (head: string) => HARNESS.replace("model: roles:one\n", `model: roles:one\n${head}`);

/** The root delegates once and answers with what it was told. */
const asks = (args: Readonly<Record<string, unknown>>): readonly FakeResponse[] => [
  delegates(args),
  (call) => answers(lastText(call))(call),
];

describe("a delegation", () => {
  test("runs an agent in a session of its own, and its parent sees the structured result alone", async () => {
    const rig = await createDelegationRig(agents({ scout: agentFile("scout", "tools: [fs.list]\n") }), {
      root: asks({ agent: "scout", task: "Look around." }),
      scout: [makes(["fs.list", { path: "." }]), answers("I saw harness.md.")],
    });
    expect(await rig.send("go")).toMatchObject({ outcome: "answered" });
    const [child] = rig.children();
    const metrics = { steps: 2, tool_calls: 1, input_tokens: 20, output_tokens: 10, cost_usd: 0.002 };
    expect(rig.parsed()).toEqual([
      {
        status: "ok",
        agent: "scout",
        session: child,
        result: "I saw harness.md.",
        verification: { outcome: "skipped", attempts: 0 },
        metrics: { ...metrics, duration_ms: expect.any(Number) },
      },
    ]);
    expect(rig.of("DelegationStarted")).toMatchObject([
      {
        session: child,
        agent: "scout",
        task: "Look around.",
        mode: "sync",
        depth: 1,
        tools: ["fs.list"],
        max_steps: 10,
      },
    ]);
    expect(rig.of("DelegationEnded")).toMatchObject([{ session: child, status: "ok", steps: 2, tool_calls: 1 }]);
    const [call] = rig.of("ToolCallStarted");
    const born = { parent: rig.session, agent: "scout", depth: 1, call_id: call?.call_id };
    expect(rig.ofSession(child, "SessionStarted")).toMatchObject([born]);
    expect(rig.ofSession(child, "SessionEnded")).toEqual([{ reason: "delegation-over" }]);
    expect(rig.of("ToolResult")[0]?.attrs).toMatchObject({
      "delegation.agent": "scout",
      "delegation.depth": 0,
      "delegation.model": "roles:one",
      "delegation.task_len": 12,
      "delegation.tools_count": 1,
      "delegation.tool_calls": 1,
      "delegation.verify_outcome": "skipped",
    });
    expect(rig.of("ToolIntent").map(({ name }) => name)).toEqual(["delegate"]);
    expect(rig.ofSession(child, "ToolIntent").map(({ name }) => name)).toEqual(["fs.list"]);
  });

  test("of nobody by name has what the request gives: prompt, model, tools and hooks, checked like files", async () => {
    const rig = await createDelegationRig(
      agents({ scout: agentFile("scout") }),
      {
        root: asks({
          task: "Shout.",
          system_prompt: "ROLE:shouter",
          model: "roles:two",
          tools: [
            {
              name: "shout",
              description: "Shouts.",
              parameters: { word: { type: "string", required: true } },
              script: "def run(args):\n    return args['word'].upper()",
            },
          ],
          hooks: [
            {
              event: "tool.post",
              script: "def handle(event, payload):\n    return modify(dict(payload, content=payload['content'] + '!'))",
            },
          ],
        }),
        shouter: [
          makes(["shout", { word: "hey" }]),
          (call) => answers(`${call.request.model} ${lastText(call)}`)(call),
        ],
      },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([{ status: "ok", result: "roles:two HEY!" }]);
  });

  test.each([
    [
      "a script that does not compile",
      { tools: [{ name: "bad", parameters: {}, script: "def run(args)" }] },
      /bad\.md:/,
    ],
    [
      "a hook on no event",
      { hooks: [{ event: "tool.never", script: "def handle(e, p):\n    return allow()" }] },
      /event/,
    ],
    [
      "the name of another tool",
      { tools: [{ name: "fs.read", parameters: {}, script: "def run(args):\n    return 1" }] },
      /built-in tool/,
    ],
    ["a tool that nobody has", { tools: ["fs.teleport"] }, /do not have it yourself/],
    ["a verifier without run", { verify: "def check(x):\n    return True" }, /run/],
    ["an agent that nobody wrote", { agent: "scowt" }, /Did you mean "scout"/],
    ["a model that nobody knows", { model: "nobody:x" }, /no provider/],
  ])("with %s is refused, and nothing is opened", async (_, args, told) => {
    const rig = await createDelegationRig(
      agents({ scout: agentFile("scout") }),
      { root: asks({ task: "Try.", ...args }), inline: [answers("never")], scout: [answers("never")] },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(rig.results()[0]).toMatch(told);
    expect(rig.of("ToolResult")[0]).toMatchObject({ is_error: true });
    expect(rig.children()).toEqual([]);
  });

  test("with code of its own is looked at by a person, one without is not asked about", async () => {
    const script = "def run(args):\n    return 1";
    const rig = await createDelegationRig(agents({ scout: agentFile("scout") }), {
      root: asks({ task: "Try.", tools: [{ name: "one", parameters: {}, script }] }),
      inline: [answers("never")],
    });
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PermissionDenied" }]);
    expect(rig.children()).toEqual([]);
  });

  test("is offered in every project that does not rule it out", async () => {
    const seen: string[][] = [];
    const root: Roles = {
      root: (call) => {
        seen.push(call.request.tools.map(({ name }) => name));
        return answers("ok");
      },
    };
    await (await createDelegationRig({}, root)).send("go");
    await (await createDelegationRig(agents({ scout: agentFile("scout") }), root)).send("go");
    await (await createDelegationRig({ "harness.md": harness("delegation: { max_depth: 0 }\n") }, root)).send("go");
    const offered = seen.map((names) => names.filter((name) => /^(delegate|task\.)/.test(name)));
    const all = ["delegate", "delegate_async", "task.poll", "task.await", "task.cancel"];
    expect(offered).toEqual([all, all, []]);
  });
});

describe("what crosses the boundary", () => {
  test("hooks: those of the project hold for the delegate's calls and turns, its own come first", async () => {
    const note = (what: string) =>
      `log(event + " ${what} " + str(payload.get("depth", "")) if type(payload) == "dict" else event + " ${what}")\n      return allow()`;
    const inline =
      'hooks:\n  - name: own\n    event: tool.pre\n    priority: 5\n    script: |\n      def handle(event, payload):\n          log("own")\n          return modify(dict(payload, args={"path": "secret"}))\n';
    const rig = await createDelegationRig(
      {
        ...agents({ scout: agentFile("scout", `tools: [fs.list]\n${inline}`) }),
        ".harness/hooks/guard.md": hook(
          "tool.pre",
          'return block("not there") if payload["args"].get("path") == "secret" else allow()',
        ),
        ".harness/hooks/turns.md": hook("turn.start", note("seen")),
      },
      {
        root: asks({ agent: "scout", task: "Look." }),
        scout: [makes(["fs.list", { path: "." }]), (call) => answers(lastText(call))(call)],
      },
    );
    await rig.send("go");
    const [child] = rig.children();
    // What its own hook made of the call is still judged by the guard of the project.
    expect(rig.ofSession(child, "ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    expect(rig.ofSession(child, "ScriptLogged").map(({ message }) => message)).toEqual(["turn.start seen", "own"]);
    expect(rig.of("ScriptLogged").map(({ message }) => message)).toEqual(["turn.start seen"]);
    expect(rig.ofSession(child, "HooksAsked").map(({ depth }) => depth)).toEqual([1, 1]);
  });

  test("tools: exactly those that are named, the policies of project and agent on top", async () => {
    let shown: string[] = [];
    const head = "tools: [fs.read, fs.list, exec]\ntools_policy: { deny: [fs.list] }\n";
    const rig = await createDelegationRig(
      { "harness.md": harness("tools_policy: { deny: [exec] }\n"), ...agents({ scout: agentFile("scout", head) }) },
      {
        root: asks({ agent: "scout", task: "Look.", tools: ["fs.glob"] }),
        scout: (call, step) => {
          shown = call.request.tools.map(({ name }) => name);
          return step === 0
            ? makes(["fs.write", { path: "x", content: "y" }], ["exec", { command: "ls" }])
            : answers("stopped");
        },
      },
    );
    await rig.send("go");
    expect(shown).toEqual(["fs.read", "fs.glob"]);
    expect(rig.ofSession(rig.children()[0], "ToolResult")).toMatchObject([
      { outcome: "error", reason: "UnknownTool" },
      { outcome: "denied", reason: "PolicyDenied" },
    ]);
  });

  test("tools: a delegate passes on only what it has itself", async () => {
    const rig = await createDelegationRig(agents({ boss: agentFile("boss", "tools: [delegate, fs.list]\n") }), {
      root: asks({ agent: "boss", task: "Lead." }),
      boss: [delegates({ task: "Write.", tools: ["fs.write"] }), (call) => answers(lastText(call))(call)],
      inline: [answers("never")],
    });
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([
      { result: expect.stringContaining("You cannot give fs.write to the delegate") },
    ]);
  });

  test("files and rules: the workspace and the deny rules are those of the root", async () => {
    const rig = await createDelegationRig(
      {
        "harness.md": harness('permissions: { allow: ["fs.write"], deny: ["Write(secret*)"] }\n'),
        ...agents({ writer: agentFile("writer", "tools: [fs.write]\n") }),
      },
      {
        root: asks({ agent: "writer", task: "Write." }),
        writer: [
          makes(["fs.write", { path: "note.txt", content: "a" }]),
          makes(["fs.write", { path: "secret.txt", content: "a" }]),
          makes(["fs.write", { path: "../outside.txt", content: "a" }]),
          answers("tried"),
        ],
      },
    );
    await rig.send("go");
    expect(rig.ofSession(rig.children()[0], "ToolResult").map(({ outcome }) => outcome)).toEqual([
      "ok",
      "denied",
      "denied",
    ]);
    expect(existsSync(join(rig.workspace.root, "note.txt"))).toBe(true);
  });

  test("network: the list of the project holds", async () => {
    const rig = await createDelegationRig(
      {
        "harness.md": harness("network: { allowed_domains: [docs.example.com] }\n"),
        ...agents({ reader: agentFile("reader", "tools: [web.fetch]\n") }),
      },
      {
        root: asks({ agent: "reader", task: "Read." }),
        reader: [makes(["web.fetch", { url: "https://evil.example.org/" }]), answers("no")],
      },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(rig.ofSession(rig.children()[0], "NetworkJudged")).toMatchObject([
      { host: "evil.example.org", policy: "denied" },
    ]);
  });

  test("memory: the task and its own prompt, nothing of the conversation and nothing else of the project", async () => {
    let seen: unknown;
    const rig = await createDelegationRig(
      { ".harness/plugins/tips.md": "---\n---\n\nA tip.\n", ...agents({ scout: agentFile("scout") }) },
      {
        root: asks({ agent: "scout", task: "Look." }),
        scout: (call) => {
          seen = { system: call.request.system, messages: call.request.messages.map(textsOf) };
          return answers("ok");
        },
      },
    );
    await rig.send("the password is teapot");
    expect(seen).toEqual({ system: ["ROLE:scout", expect.stringContaining("It is data")], messages: ["Look."] });
  });

  test("counters and cache are one for the tree, values of a turn are not", async () => {
    const tool = (body: string) => `---\nparameters: {}\nscript: |\n  def run(args):\n      ${body}\n---\n\nCounts.\n`;
    const rig = await createDelegationRig(
      {
        ".harness/tools/count.md": tool(
          'metrics.incr("seen")\n      had = cache.get("left")\n      cache.set("left", "here")\n      was = ctx.get("mine", "nothing")\n      ctx.set("mine", "set")\n      return {"had": had, "was": was}',
        ),
        ...agents({ scout: agentFile("scout", "tools: [count]\n") }),
      },
      {
        root: [makes(["count", {}]), delegates({ agent: "scout", task: "Count." }), answers("done")],
        scout: [makes(["count", {}]), (call) => answers(lastText(call))(call)],
      },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(JSON.parse(String(rig.parsed()[1]?.result))).toEqual({ had: "here", was: "nothing" });
    expect(await rig.counters()).toMatchObject({ seen: 2, "delegation.count": 1 });
  });

  test("plan mode holds for delegates, and delegating to look around is no change", async () => {
    const rig = await createDelegationRig(
      agents({ writer: agentFile("writer", "tools: [fs.write, fs.list]\n") }),
      {
        root: asks({ agent: "writer", task: "Write." }),
        writer: [
          makes(["fs.list", { path: "." }]),
          makes(["fs.write", { path: "x.txt", content: "a" }]),
          answers("no"),
        ],
      },
      { autoApprove: true },
    );
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send("go");
    expect(rig.ofSession(rig.children()[0], "ToolResult").map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["ok", undefined],
      ["denied", "PlanModeActive"],
    ]);
  });

  test("undo: what delegates changed in a turn is taken back with it", async () => {
    const { outside } = createTemporaryWorkspace();
    const write = (path: string) => makes(["fs.write", { path, content: "x" }]);
    const rig = await createDelegationRig(
      agents({ writer: agentFile("writer", "tools: [fs.write, delegate]\n") }),
      {
        root: [write("root.txt"), delegates({ agent: "writer", task: "Write one." }), answers("done")],
        writer: (call, step) => {
          const deep = textsOf(call.request.messages[0] ?? { role: "user", content: [] }).includes("two");
          if (step === 0) return write(deep ? "two.txt" : "one.txt");
          return !deep && step === 1 ? delegates({ agent: "writer", task: "Write two." }) : answers("written");
        },
      },
      { autoApprove: true, undo: { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) } },
    );
    await rig.send("go");
    const there = () => ["root.txt", "one.txt", "two.txt"].map((file) => existsSync(join(rig.workspace.root, file)));
    expect(there()).toEqual([true, true, true]);
    await rig.submit({ kind: "UndoTurn" });
    expect(there()).toEqual([false, false, false]);
    await rig.submit({ kind: "Redo" });
    expect(there()).toEqual([true, true, true]);
  });
});

describe("limits", () => {
  const deeper: Roles = {
    root: asks({ agent: "boss", task: "Lead." }),
    boss: asks({ agent: "boss", task: "Lead." }),
  };
  const boss = (head = "") => agents({ boss: agentFile("boss", `tools: [delegate]\n${head}`) });

  test.each([
    ["three levels when nothing is written", "", 3, /depth limit reached/],
    ["max_depth", "delegation: { max_depth: 1 }\n", 1, /depth limit reached/],
    ["allow_recursive", "delegation: { allow_recursive: false }\n", 1, /allow_recursive/],
    ["max_concurrent", "delegation: { max_concurrent: 2 }\n", 2, /max_concurrent/],
  ])("%s", async (_, head, depth, told) => {
    const rig = await createDelegationRig({ "harness.md": harness(head), ...boss() }, deeper);
    await rig.send("go");
    expect(rig.children()).toHaveLength(depth);
    const refused = rig.all.filter((event) => event.kind === "ToolResult" && event.payload.reason === "KindDelegation");
    expect(refused).toHaveLength(1);
    expect(JSON.stringify(refused)).toMatch(told);
  });

  test("max_depth 0 is no delegation at all", async () => {
    const rig = await createDelegationRig(
      { "harness.md": harness("delegation: { max_depth: 0 }\n"), ...boss() },
      deeper,
    );
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ reason: "UnknownTool" }]);
  });

  test("iterations_per_depth; a request can ask for fewer and not for more", async () => {
    const busy = (_: unknown, step: number) => makes(["fs.list", { path: `./${"./".repeat(step)}` }]);
    const steps = async (head: string, args: object): Promise<unknown> => {
      const rig = await createDelegationRig(
        { "harness.md": harness(head), ...agents({ scout: agentFile("scout", "tools: [fs.list]\n") }) },
        { root: asks({ agent: "scout", task: "Look.", ...args }), scout: busy },
      );
      await rig.send("go");
      expect(rig.parsed()).toMatchObject([{ status: "failed", reason: "StepLimit" }]);
      return rig.of("DelegationEnded")[0]?.steps;
    };
    expect(await steps("", {})).toBe(10);
    expect(await steps("delegation: { iterations_per_depth: [12, 6] }\n", {})).toBe(6);
    expect(await steps("delegation: { iterations_per_depth: [4] }\n", { max_iterations: 50 })).toBe(4);
    expect(await steps("", { max_iterations: 2 })).toBe(2);
  });

  test("a tool that keeps failing is not called a fourth time", async () => {
    const rig = await createDelegationRig(agents({ scout: agentFile("scout", "tools: [fs.read]\n") }), {
      root: asks({ agent: "scout", task: "Look." }),
      scout: (_, step) => (step < 4 ? makes(["fs.read", { path: `no-${step}` }]) : answers("gave up")),
    });
    await rig.send("go");
    expect(rig.ofSession(rig.children()[0], "ToolResult").map(({ reason }) => reason)).toEqual([
      ...["ToolFailed", "ToolFailed", "ToolFailed"],
      "ToolRetryLimit",
    ]);
  });
});

describe("hooks around it", () => {
  const scout = agents({ scout: agentFile("scout"), other: agentFile("other") });
  const roles: Roles = {
    root: asks({ agent: "scout", task: "Find the internal notes." }),
    scout: [(call) => answers(`scout was asked: ${lastText(call)}`)(call)],
    other: [(call) => answers(`other was asked: ${lastText(call)}`)(call)],
  };

  test("delegation.pre blocks before anything is opened", async () => {
    const guard = hook(
      "delegation.pre",
      'return block("no internal topics") if "internal" in payload["task"] else allow()',
      'when: payload["agent"] == "scout"\n',
    );
    const rig = await createDelegationRig({ ...scout, ".harness/hooks/guard.md": guard }, roles);
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ reason: "HookBlocked" }]);
    expect(rig.results()[0]).toContain("no internal topics");
    expect(rig.children()).toEqual([]);
  });

  test("delegation.pre rewrites the task and swaps the agent; what it leaves is checked again", async () => {
    const change = (body: string) => ({ ...scout, ".harness/hooks/change.md": hook("delegation.pre", body) });
    const swapped = await createDelegationRig(
      change('return modify(dict(payload, agent="other", prompt="Find nothing."))'),
      roles,
    );
    await swapped.send("go");
    expect(swapped.parsed()).toMatchObject([{ agent: "other", result: "other was asked: Find nothing." }]);
    const nobody = await createDelegationRig(change('return modify(dict(payload, agent="nobody"))'), roles);
    await nobody.send("go");
    expect(nobody.of("ToolResult")).toMatchObject([{ reason: "KindDelegation" }]);
    const broken = await createDelegationRig(change("return modify(payload['missing'])"), roles);
    await broken.send("go");
    expect(broken.of("ToolResult")).toMatchObject([{ reason: "HookBlocked" }]);
    expect([...nobody.children(), ...broken.children()]).toEqual([]);
  });

  test("delegation.post rewrites the result or refuses it", async () => {
    const posting = (body: string) => ({ ...scout, ".harness/hooks/after.md": hook("delegation.post", body) });
    const redacted = await createDelegationRig(
      posting('return modify(dict(payload, result="(left out) " + str(payload["depth"]) + payload["agent"]))'),
      roles,
    );
    await redacted.send("go");
    expect(redacted.parsed()).toMatchObject([{ status: "ok", result: "(left out) 0scout" }]);
    const refused = await createDelegationRig(posting('return block("not good enough")'), roles);
    await refused.send("go");
    expect(refused.of("ToolResult")).toMatchObject([{ reason: "HookBlocked", is_error: true }]);
    expect(refused.results()[0]).not.toContain("scout was asked");
  });
});
