/** A backtest says what was decided live, finds small edits of a policy, and says what it cannot tell. The figures: bench/policy.ts. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultSettings, type Settings } from "#artifacts";
import {
  createBacktest,
  createPolicyDiff,
  type Policy,
  policyOf,
  RECORDED,
  RecordedCalls,
  type RecordedSession,
  suggestRules,
} from "#governance";
import { calls, createHarnessRig, type HarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";
import { createHookedRig } from "./fakes/hooked-run.ts";
import { policyAgreement } from "./fakes/policy-agreement.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

/** `test/campaigns/policy-backtest.test.ts` has more. */
const CALLS = 80;
function policy(
  rules: Readonly<Partial<Record<"allow" | "ask" | "deny", readonly string[]>>>,
  rest: Partial<Settings> = {},
): Policy {
  const effects = ["allow", "ask", "deny"] as const;
  const permissions = effects.flatMap((effect) =>
    (rules[effect] ?? []).map((rule, index) => ({ effect, rule, source: `${effect}.toml:${index + 1}` })),
  );
  return policyOf({ ...defaultSettings, permissions, ...rest });
}

function recorded({ session, events, workspace }: HarnessRig): RecordedSession {
  const made = new RecordedCalls(session, workspace.root);
  for (const event of events) made.add(event);
  return made.finish();
}

async function ran(
  replies: Parameters<typeof createHarnessRig>[0],
  options: RigOptions = {},
): Promise<RecordedSession> {
  const rig = await createHarnessRig([...replies, says("ok")], options);
  await rig.send();
  return recorded(rig);
}

/** `effect by` of each call, or why it cannot be told. */
async function decisions(under: Policy, session: RecordedSession): Promise<readonly string[]> {
  const backtest = createBacktest(under).begin(session);
  const said: string[] = [];
  for (const call of session.calls) {
    const decided = await backtest.decide(call);
    if (decided === undefined) said.push("unjudged");
    else said.push(decided.effect === "unknown" ? `unknown: ${decided.why}` : `${decided.effect} by ${decided.by}`);
  }
  return said;
}

test("agrees with live decisions of every kind, and finds mutations of the policy", async () => {
  const { decided, ...wrong } = await policyAgreement(CALLS);
  expect(wrong).toEqual({ differing: [], missed: [] });
  expect(decided).toBeGreaterThanOrEqual(CALLS);
});

describe("what is not on the record", () => {
  const aboutFiles = { deny: ["Read(secrets/**)"] };
  const walks = () => ran([calls(["exec", { command: "grep -r TODO ." }])]);

  test("is not guessed: a lookup on the disk that nobody made then", async () => {
    const session = await walks();
    expect(await decisions(policy({}), session)).toEqual(["allow by quiet preset"]);
    expect(await decisions(policy({ deny: ["exec"] }), session)).toEqual(["deny by rule exec"]);
    expect(await decisions(policy(aboutFiles), session)).toEqual([
      "unknown: the log does not say whether the command would have read files that a rule names",
    ]);
  });

  test("does not matter where nothing that could decide has changed", async () => {
    const session = await walks();
    const change = async (before: Policy, after: Policy) =>
      (await createPolicyDiff(before, after).compare(session)).map((one) => [one.change, one.mayBeLoosened ?? false]);
    const also = (allow: string): Policy => policy({ ...aboutFiles, allow: [allow] });
    expect(await change(policy(aboutFiles), also("Write(a)"))).toEqual([["same", false]]);
    expect(await change(policy(aboutFiles), also("Bash(npm *)"))).toEqual([["undecided", true]]);
    expect(await change(policy({ deny: ["exec"] }), policy(aboutFiles))).toEqual([["undecided", true]]);
    expect(await change(policy({}), policy(aboutFiles))).toEqual([["undecided", false]]);
    expect(await change(policy(aboutFiles), policy({ deny: ["exec"] }))).toEqual([["undecided", false]]);
  });

  test("is less than it could be: of what was refused, and of files in commands, it is kept where they led", async () => {
    const session = await ran(
      [
        calls(["fs_read", { path: "link.txt" }]),
        calls(["exec", { command: "git status" }]),
        calls(["exec", { command: "touch link.txt" }]),
      ],
      {
        settings: { permissions: ["Read", "Bash(git *)"].map((rule) => ({ effect: "deny", rule, source: "a" })) },
        prepare: ({ put, root }) => {
          put("secrets/a.txt", "a");
          symlinkSync("secrets/a.txt", join(root, "link.txt"));
        },
      },
    );
    expect(session.calls.map(({ live }) => live?.effect)).toEqual(["deny", "deny", "ask"]);
    expect(await decisions(policy({}), session)).toEqual([
      "allow by quiet preset",
      "ask by quiet preset",
      "ask by quiet preset",
    ]);
    expect(await decisions(policy({ deny: ["fs.*(secrets/**)"] }), session)).toEqual([
      "deny by rule fs.*(secrets/**)",
      "ask by quiet preset",
      "deny by rule fs.*(secrets/**)",
    ]);
  });

  test("is what was redacted, unless the text does not matter", async () => {
    const token = `ghp_${"Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi"}`;
    const session = await ran([
      calls(["exec", { command: `deploy --token ${token}` }]),
      calls(["fs_write", { path: "a.txt", content: token }]),
    ]);
    const redacted = "unknown: the decision depends on an argument that was redacted";
    expect(await decisions(policy({ allow: ["Bash(deploy *)", "Write(a.txt)"] }), session)).toEqual([
      redacted,
      "allow by rule Write(a.txt)",
    ]);
    expect(await decisions(policy({ deny: ["exec"] }), session)).toEqual(["deny by rule exec", "ask by quiet preset"]);
  });

  test("is what a log of before these facts were kept does not say", async () => {
    const session = await ran([
      calls(["fs_read", { path: "a.txt" }]),
      calls(["web_fetch", { url: "https://a.example/" }]),
    ]);
    const old = { ...session, calls: session.calls.map(({ judgedOn: _, ...call }) => call) };
    expect(await decisions(policy({}), old)).toEqual([
      "unknown: the log does not say where the link a.txt led",
      "ask by quiet preset",
    ]);
  });
});

test("a rule that a person added to the session counts from then on, until it is revoked", async () => {
  const command = { command: "touch x" };
  const rig = await createHarnessRig([calls(["exec", command]), calls(["exec", command]), says("ok")], {
    interactive: true,
  });
  const sent = rig.send();
  const { call_id, argv_glob } = await rig.next("PermissionRequested");
  await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_argv_glob" });
  await sent;
  rig.vendor.reply(calls(["exec", command]), says("ok"));
  await rig.submit({ kind: "RevokeRule", rule: argv_glob ?? "" });
  const again = rig.send();
  await expect.poll(() => rig.of("PermissionRequested").length).toBe(2);
  await rig.submit({
    kind: "AnswerPermission",
    call_id: rig.of("PermissionRequested")[1]?.call_id ?? call_id,
    decision: "deny",
  });
  await again;
  expect(await decisions(policy({}), recorded(rig))).toEqual([
    "ask by quiet preset",
    "allow by rule Bash(touch *)",
    "ask by quiet preset",
  ]);
});

test("a shell hook's say in the permission question counts as it did live, under any policy", async () => {
  const printing = (decision: string) =>
    `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"${decision}"}}'`;
  const touches = [calls(["exec", { command: "touch made" }]), says("done")];
  const live = async (decision: string) => {
    const rig = await createHookedRig([{ event: "PreToolUse", command: printing(decision) }], touches);
    await rig.send();
    return recorded(rig);
  };
  const [allowing, asking] = [await live("allow"), await live("ask")];
  const name = allowing.calls[0]?.hookSays?.hook;
  expect(await decisions(policy({}), allowing)).toEqual([`allow by hook ${name}`]);
  expect(await decisions(policy({ ask: ["Bash(touch *)"] }), allowing)).toEqual(["ask by rule Bash(touch *)"]);
  expect(await decisions(policy({ deny: ["exec"] }), allowing)).toEqual(["deny by rule exec"]);
  expect(await decisions(policy({ allow: ["Bash(touch *)"] }), asking)).toEqual([`ask by hook ${name}`]);
  expect(await decisions(policy({ deny: ["exec"] }), asking)).toEqual(["deny by rule exec"]);
});

test("hooks are not run again: what they answered is used, and one that is gone cannot be told", async () => {
  const guard = (text: string): string =>
    `---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      return block("${text}")\n---\n`;
  const rig = await createProjectRig({ "harness.md": "---\n---\nHi.\n", ".harness/hooks/guard.md": guard("no") }, [
    calls(["fs_write", { path: "a", content: "" }]),
    says("ok"),
  ]);
  await rig.send();
  const session = recorded(rig);
  const inForce = { ...policy({ allow: ["Write"] }), hooks: new Map([["guard", "1"]]) };
  expect(await decisions(inForce, session)).toEqual(["deny by hook guard"]);
  const diff = createPolicyDiff(inForce, policy({ allow: ["Write"] }));
  expect(diff.changedHooks).toEqual(["guard"]);
  expect(await diff.compare(session)).toMatchObject([{ change: "undecided", mayBeLoosened: true }]);
});

test("labels that only a rule of the time gave do not count under a policy without it", async () => {
  const session = await ran(
    [
      calls(["fs_read", { path: "plan.txt" }]),
      calls(["exec", { command: "curl https://a.example" }]),
      calls(["exec", { command: "touch out" }]),
    ],
    {
      settings: {
        sandbox: "off",
        permissions: [{ effect: "allow", rule: "exec", source: "a" }],
        labelRules: [{ label: "private", rule: "Read(plan.txt)", source: "a" }],
      },
      prepare: ({ put }) => void put("plan.txt", "plan"),
    },
  );
  const allowing = { sandbox: "off" } as const;
  const labelRules = [{ label: "private", rule: "Read(plan.txt)", source: "b" }] as const;
  expect(session.calls.map(({ live }) => live?.by)).toEqual(["quiet preset", "rule exec", "labels of the session"]);
  expect(await decisions(policy({ allow: ["exec"] }, { ...allowing, labelRules }), session)).toEqual([
    "allow by quiet preset",
    "allow by rule exec",
    "ask by labels of the session",
  ]);
  expect((await decisions(policy({ allow: ["exec"] }, allowing), session))[2]).toBe("allow by rule exec");
});

test("what was decided then can stand for the old policy", async () => {
  const session = await ran([calls(["fs_write", { path: "src/a.ts", content: "" }])]);
  const compared = await createPolicyDiff(RECORDED, policy({ allow: ["Write(src/**)"] })).compare(session);
  expect(compared).toMatchObject([
    {
      change: "loosened",
      before: { effect: "ask", by: "quiet preset" },
      after: { effect: "allow", source: "allow.toml:1" },
    },
  ]);
});

describe("suggested rules", () => {
  const wrote = (...paths: readonly string[]) => paths.map((path) => calls(["fs_write", { path, content: "x" }]));

  test("are as narrow as what was used, and take three cases for the kind", async () => {
    const session = await ran(
      [
        ...wrote("a.txt", "src/a.ts", "src/b.ts", "src/c.ts", "docs/a.md", "docs/b.md"),
        calls(["exec", { command: "touch one && touch 'two words' | cat" }]),
      ],
      { autoApprove: true, settings: { sandbox: "off" } },
    );
    const { rules, uncovered, covered } = await suggestRules(policy({ allow: ["Write(docs/a.md)"] }), [session]);
    expect(rules.map(({ rule, calls: used }) => [rule, used.length])).toEqual([
      ["Write(src/*)", 3],
      ['Bash(touch "two words")', 1],
      ["Bash(touch one)", 1],
      ["Write(a.txt)", 1],
      ["Write(docs/b.md)", 1],
    ]);
    expect({ uncovered, covered }).toEqual({ uncovered: [], covered: 1 });
  });

  test("allow nothing that a person denied, and say what they do not cover", async () => {
    const rig = await createHarnessRig(
      [
        ...wrote("src/a.ts", "src/b.ts", "src/c.ts", "src/no.ts"),
        calls(["exec", { command: "touch $(cat x)" }]),
        says("ok"),
      ],
      { interactive: true, settings: { sandbox: "off" } },
    );
    const sent = rig.send();
    for (let asked = 1; asked <= 5; asked++) {
      await expect.poll(() => rig.of("PermissionRequested").length).toBe(asked);
      const last = rig.of("PermissionRequested").at(-1);
      if (last === undefined) throw new Error("nobody was asked");
      const decision = last.summary === "src/no.ts" ? "deny" : "allow_once";
      await rig.submit({ kind: "AnswerPermission", call_id: last.call_id, decision });
    }
    await sent;
    const { rules, uncovered } = await suggestRules(policy({}), [recorded(rig)]);
    expect(rules.map(({ rule }) => rule)).toEqual(["Write(src/a.ts)", "Write(src/b.ts)", "Write(src/c.ts)"]);
    expect(uncovered.map(({ call }) => call.args?.command)).toEqual(["touch $(cat x)"]);
  });

  test("one case is never taken for its kind, also where it cannot be written exactly", async () => {
    const session = await ran(
      [
        calls(["exec", { command: "touch 'what?'" }]),
        calls(["exec", { command: "touch a*b" }]),
        calls(["web_fetch", { url: "https://example.com/pay?id=1" }]),
        calls(["ship_it", { target: "staging" }]),
      ],
      {
        autoApprove: true,
        settings: { sandbox: "off" },
        plugins: [
          {
            name: "ships",
            register(host) {
              const run = async () => ({ content: [{ type: "text", text: "done" }] }) as const;
              const tool = {
                name: "ship_it",
                label: "ship_it",
                class: "mutating",
                description: "",
              } as const;
              host.addToolSource({ name: "ships", tools: () => [{ ...tool, parameters: { type: "object" }, run }] });
            },
          },
        ],
      },
    );
    const { rules, uncovered } = await suggestRules(policy({}), [session]);
    expect(rules.map(({ rule }) => rule)).toEqual([
      "WebFetch(https://example.com/pay?id=1)",
      'ship_it({"target":"staging"})',
    ]);
    expect(uncovered.map(({ call }) => call.args?.command)).toEqual(["touch 'what?'", "touch a*b"]);
  });

  test("together allow nothing that a person denied, either", async () => {
    const commands = [
      "touch a b",
      "touch b c",
      "touch c d",
      "mkdir a1",
      "mkdir b1",
      "mkdir c1",
      "touch x y && mkdir z",
    ];
    const rig = await createHarnessRig([...commands.map((command) => calls(["exec", { command }])), says("ok")], {
      interactive: true,
      settings: { sandbox: "off" },
    });
    const sent = rig.send();
    for (let asked = 1; asked <= commands.length; asked++) {
      await expect.poll(() => rig.of("PermissionRequested").length).toBe(asked);
      const last = rig.of("PermissionRequested").at(-1);
      if (last === undefined) throw new Error("nobody was asked");
      const decision = last.summary.includes("&&") ? "deny" : "allow_once";
      await rig.submit({ kind: "AnswerPermission", call_id: last.call_id, decision });
    }
    await sent;
    const session = recorded(rig);
    const { rules } = await suggestRules(policy({}), [session]);
    const texts = rules.map(({ rule }) => rule);
    expect(texts.length).toBeGreaterThan(0);
    expect((await decisions(policy({ allow: texts }), session)).at(-1)).toMatch(/^ask/);
  });

  test("never let a model bring code along in a delegation because it once did", async () => {
    const rig = await createProjectRig(
      {
        "harness.md": "---\npermissions: { allow: [] }\n---\nYou lead.\n",
        ".harness/agents/scout.md": "---\ndescription: Looks.\n---\nYou look.\n",
      },
      [
        calls(["delegate", { agent: "scout", task: "x", verify: "def run(r):\n  return True" }]),
        says("seen"),
        says("ok"),
      ],
      { autoApprove: true },
    );
    await rig.send();
    const { rules, uncovered } = await suggestRules(policy({}), [recorded(rig)]);
    expect(rules).toEqual([]);
    expect(uncovered).toMatchObject([
      { call: { name: "delegate" }, why: expect.stringContaining("no rule can match") },
    ]);
  });
});
