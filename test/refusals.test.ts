/** Each refusal says what was refused, by which rule and where that is written, and how to allow it. */
import { expect, test } from "vitest";
import type { Settings } from "#artifacts";
import { calls, type RigOptions, says } from "./fakes/harness-rig.ts";
import { createProjectRig, type ProjectRig } from "./fakes/project-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

interface Row {
  readonly kind: string;
  readonly call: readonly [string, object];
  readonly times?: number;
  readonly settings?: Partial<Settings>;
  readonly files?: Readonly<Record<string, string>>;
  readonly interactive?: boolean;
  readonly before?: (rig: ProjectRig) => Promise<unknown>;
  /** Where the rule is written. */
  readonly place: RegExp;
  readonly what: RegExp;
  readonly remedy: RegExp;
}

const rule = (effect: "allow" | "ask" | "deny", text: string): Partial<Settings> => ({
  permissions: [{ effect, rule: text, source: "config.toml:4" }],
});
const HARNESS = (fields: string): Record<string, string> => ({ "harness.md": `---\n${fields}\n---\n\nBe brief.\n` });
const SCRIPT =
  '---\nparameters: {}\nscript: |\n  def run(args):\n      fs.write(".env", "x")\n      return 1\n---\n\nWrites.\n';
const WRITE = ["fs.write", { path: "a.txt", content: "x" }] as const;

const rows: readonly Row[] = [
  {
    kind: "tools_policy",
    call: WRITE,
    files: HARNESS("tools_policy: { mode: denylist, deny: [fs.write] }"),
    what: /^fs\.write is not available here/,
    place: /\(harness\.md:2\)/,
    remedy: /To allow it, change that policy/,
  },
  {
    kind: "hook",
    call: WRITE,
    files: {
      ".harness/hooks/guard.md":
        '---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      return block("not now")\n---\n',
    },
    what: /^blocked by hook "guard": not now\n/,
    place: /\(\.harness\/hooks\/guard\.md:1\)/,
    remedy: /To allow it, change that hook/,
  },
  {
    kind: "deny rule",
    call: WRITE,
    settings: rule("deny", "fs.write"),
    what: /^Write was denied by the rule 'deny fs\.write'/,
    place: /\(config\.toml:4\)/,
    remedy: /To allow it, change that rule/,
  },
  {
    kind: "deny rule about a file, for a command",
    call: ["exec", { command: "cat secret.txt" }],
    settings: rule("deny", "Read(secret.txt)"),
    what: /^Bash was denied by .*cat would read secret\.txt/,
    place: /\(config\.toml:4\)/,
    remedy: /To allow it, change that rule/,
  },
  {
    kind: "ask rule with nobody there",
    call: WRITE,
    settings: rule("ask", "fs.write"),
    what: /^Write was denied: .*nobody can be asked/,
    place: /'ask fs\.write' \(config\.toml:4\)/,
    remedy: /To allow it, change the rule 'ask fs\.write'/,
  },
  {
    kind: "question with nobody there",
    call: WRITE,
    what: /^Write was denied: .*nobody can be asked/,
    place: /\(built-in: quiet-preset\)/,
    remedy: /allow it with the rule Write\(a\.txt\)/,
  },
  {
    kind: "strict permissions",
    call: ["fs.read", { path: "a.txt" }],
    settings: { strictPermissions: true },
    what: /^Read was denied: no rule allows it/,
    place: /\(built-in: strict-permissions\)/,
    remedy: /allow it with the rule Read\(a\.txt\)/,
  },
  {
    kind: "blocked program",
    call: ["exec", { command: "security find-generic-password" }],
    settings: rule("allow", "Bash"),
    what: /^Bash was denied by a built-in rule that no setting can disable: security reads stored credentials/,
    place: /\(built-in: credential-programs\)/,
    remedy: /Only a person can do this, outside of Harness/,
  },
  {
    kind: "own record",
    call: ["fs.write", { path: ".harness/threads/x", content: "" }],
    settings: rule("allow", "fs.write"),
    what: /^Write was denied by a built-in rule/,
    place: /\(built-in: own-record\)/,
    remedy: /Only a person can do this/,
  },
  {
    kind: "outside the workspace",
    call: ["fs.write", { path: "../x", content: "" }],
    settings: rule("allow", "fs.write"),
    what: /^Write was denied: the path is outside the workspace/,
    place: /\(built-in: workspace\)/,
    remedy: /To allow it, choose a workspace that contains that path/,
  },
  {
    kind: "plan mode",
    call: WRITE,
    settings: rule("allow", "fs.write"),
    before: (rig) => rig.submit({ kind: "EnterPlanMode" }),
    what: /^Plan mode is on: Write can change things/,
    place: /\(built-in: plan-mode\)/,
    remedy: /To allow it, a person approves the plan/,
  },
  {
    kind: "budget",
    call: WRITE,
    times: 2,
    settings: { ...rule("allow", "fs.write"), budgets: { turn: { maxCalls: 1 } } },
    what: /^The budget of the turn is used up: 1 of 1 calls/,
    place: /\(budgets\.turn\.max_calls\)/,
    remedy: /To allow more, raise that in harness\.md/,
  },
  {
    kind: "repeated call",
    call: WRITE,
    times: 3,
    settings: rule("allow", "fs.write"),
    what: /^Write was denied: the agent made the same call 3 times in a row/,
    place: /\(built-in: repeated-calls\)/,
    remedy: /To allow it, run where a person can answer, or make a different call/,
  },
  {
    kind: "no sandbox",
    call: ["exec", { command: "make" }],
    settings: { ...rule("allow", "Bash"), sandbox: "auto", network: { allowedDomains: ["a.test"] } },
    what: /^The command cannot be confined: the workspace is inside/,
    place: /\(built-in: sandbox\)/,
    remedy: /choose another workspace/,
  },
  {
    kind: "network list",
    call: ["web.fetch", { url: "http://other.test/" }],
    settings: rule("allow", "web.fetch"),
    files: HARNESS("network:\n  allowed_domains:\n    - a.test"),
    what: /host other\.test is not in allowed_domains/,
    place: /\(harness\.md:4\)/,
    remedy: /To allow it, add the host to that list/,
  },
  {
    kind: "effect inside a script",
    call: ["writes", {}],
    settings: rule("allow", "writes"),
    files: { ".harness/tools/writes.md": SCRIPT },
    what: /fs\.write inside writes was denied/,
    place: /\(built-in: quiet-preset\)/,
    remedy: /To allow it, add a rule for fs\.write/,
  },
  {
    kind: "approval void",
    call: WRITE,
    interactive: true,
    async before(rig) {
      void rig.next("PermissionRequested").then(({ call_id }) => {
        rig.write("a.txt", "changed meanwhile");
        return rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
      });
    },
    what: /^Write was allowed, but something changed after the approval: file a\.txt/,
    place: /\(built-in: approval-binding\)/,
    remedy: /To allow it, make the call again/,
  },
];

/** Commands cannot be held to a folder that has to be hidden from them. */
function unsandboxable(): RigOptions {
  const { root } = createTemporaryWorkspace();
  return { workspace: root, undo: { directory: root, key: Buffer.alloc(32) } };
}

test.each(rows)("$kind", async (row) => {
  const { call, times = 1, settings = {}, files = {}, interactive = false } = row;
  const rig = await createProjectRig(
    { ...HARNESS("{}"), "secret.txt": "s", ...files },
    [calls(...Array.from({ length: times }, () => call)), says("done")],
    {
      settings: { sandbox: "off", tools: { execution: "auto", onError: "continue" }, ...settings },
      interactive,
      ...(row.kind === "no sandbox" ? unsandboxable() : {}),
    },
  );
  await row.before?.(rig);
  await rig.send();
  const result = rig.of("ToolResult").at(-1);
  const text = rig.results().at(-1) ?? "";
  expect(result?.is_error, text).toBe(true);
  expect(text).toMatch(row.what);
  expect(text).toMatch(row.place);
  expect(text).toMatch(row.remedy);
});
