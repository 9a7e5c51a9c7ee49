/**
 * The fail-closed matrix: each guard event, each way in which a hook can fail, at depths 0 and 1. Nothing gets through. A caller
 * chooses points of it: all of them are a campaign.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createDelegationRig, type DelegationRig } from "./delegation-rig.ts";
import { calls, says } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";
import { createProjectRig, type ProjectRig } from "./project-rig.ts";
import { agentFile, answers, delegates } from "./roles.ts";

export const HARNESS = `---
permissions: { allow: [touch, "meta.*"] }
meta: { enabled: true, max_tools: 500, max_hooks: 500, max_agents: 50 }
---

Be brief.
`;
export const TOUCH = `---
parameters: {}
script: |
  def run(args):
      fs.write("touched.txt", "x")
      return "touched"
---

Touches a file.
`;

/** The body of `handle`, and how the frontmatter differs. */
interface Failure {
  readonly body: string;
  readonly extra?: string;
}

export const failures: Readonly<Record<string, Failure>> = {
  raises: { body: 'fail("no")' },
  "divides by zero": { body: "return 1 // 0" },
  "misses a key": { body: 'return payload["nothing"]["here"]' },
  recurses: { body: "return handle(event, payload)" },
  "loops without end": { body: "for i in range(1000000000):\n          pass" },
  "waits past its time": { body: "sleep(30)\n      return allow()", extra: "timeout_ms: 20\n" },
  "allocates without end": {
    body: 'x = "aaaaaaaa"\n      for i in range(60):\n          x = x + x\n      return allow()',
  },
  "returns nothing": { body: "pass" },
  "returns a number": { body: "return 42" },
  "returns a text": { body: 'return "allow"' },
  "returns a list": { body: 'return ["allow"]' },
  "returns an unknown action": { body: 'return {"action": "maybe"}' },
  "returns an empty dict": { body: "return {}" },
  "returns a cycle": { body: 'd = {"action": "modify"}\n      d["payload"] = d\n      return d' },
  "returns a function": { body: "return handle" },
  "modifies without a payload": { body: 'return {"action": "modify"}' },
  "modifies into nonsense": { body: "return modify(42)" },
  "modifies into an empty dict of another shape": {
    body: 'return modify({"args": 7, "system": 7, "name": 7, "task": 7})',
  },
  "has a when: that raises": { body: "return allow()", extra: 'when: payload["nothing"]["here"] == 1\n' },
  "has a when: that loops": { body: "return allow()", extra: "when: len([x for x in range(1000000000)]) > 0\n" },
};

interface Guard {
  readonly event: string;
  readonly replies: readonly MockReply[];
  /** Whether what the guard stands before has happened. */
  passed(rig: ProjectRig): boolean;
}

const registers = (kind: string, fields: object): readonly MockReply[] => [
  calls([`meta.register_${kind}`, fields]),
  says("done"),
];
const asked = (rig: ProjectRig): boolean => rig.vendor.requests.length > 0;
const succeeded = (rig: ProjectRig): boolean => rig.of("ToolResult").some(({ outcome }) => outcome === "ok");
export const touched = (rig: ProjectRig): boolean => existsSync(join(rig.workspace.root, "touched.txt"));

const guards: readonly Guard[] = [
  { event: "turn.start", replies: [says("hello")], passed: asked },
  { event: "agent.start", replies: [says("hello")], passed: asked },
  { event: "completion.pre", replies: [says("hello")], passed: asked },
  { event: "tool.pre", replies: [calls(["touch", {}]), says("done")], passed: touched },
  {
    event: "meta.register_tool",
    replies: registers("tool", {
      name: "note_x",
      description: "x",
      parameters: {},
      script: "def run(args):\n    return 1\n",
    }),
    passed: succeeded,
  },
  {
    event: "meta.register_hook",
    replies: registers("hook", {
      name: "note_h",
      event: "tool.post",
      script: "def handle(event, payload):\n    return allow()\n",
    }),
    passed: succeeded,
  },
  {
    event: "meta.register_agent",
    replies: registers("agent", { name: "note_a", description: "x", prompt: "You help." }),
    passed: succeeded,
  },
];

export function hook(event: string, { body, extra = "" }: Failure, more = ""): string {
  return `---\nevent: ${event}\npriority: 1\n${extra}${more}script: |\n  def handle(event, payload):\n      ${body}\n---\n`;
}

let tried = 0;
let letThrough = 0;

/** One turn with these files; whether what the guard stands before has happened. */
async function turnPasses(
  { replies, passed }: Guard,
  depth: number,
  files: Record<string, string>,
): Promise<ProjectRig & { passes: boolean }> {
  const rig = await createProjectRig({ "harness.md": HARNESS, ".harness/tools/touch.md": TOUCH, ...files }, replies, {
    depth,
  });
  await rig.send();
  return { ...rig, passes: passed(rig) };
}

/** Whether a way to fail is tried on a guard. A guard without any is left out. */
type IsTried = (event: string, way: string, depth: number) => boolean;

export function testFailClosed(isTried: IsTried): void {
  describe.each([0, 1])("at depth %i", (depth) => testGuards(depth, isTried));
  describe.each([0, 1])("guards of delegation at depth %i", (depth) => testGuardsOfDelegation(depth, isTried));
  afterAll(() => {
    process.stdout.write(`fail-closed matrix: ${tried} failures of guards, ${letThrough} let through\n`);
  });
}

function waysOf(event: string, depth: number, isTried: IsTried) {
  return Object.entries(failures).filter(([way]) => isTried(event, way, depth));
}

function testGuards(depth: number, isTried: IsTried): void {
  describe.each(guards.filter(({ event }) => waysOf(event, depth, isTried).length > 0))("$event", (guard) => {
    test("passes with a hook that allows, so that the rest of this table means something", async () => {
      const { passes, of } = await turnPasses(guard, depth, {
        ".harness/hooks/guard.md": hook(guard.event, { body: "return allow()" }),
      });
      expect(passes).toBe(true);
      expect(of("HooksAsked").filter(({ event }) => event === guard.event)).toMatchObject([{ depth, blocked: false }]);
    });

    test.each(waysOf(guard.event, depth, isTried))("a hook that %s blocks", async (_name, failure) => {
      const { passes, of } = await turnPasses(guard, depth, { ".harness/hooks/guard.md": hook(guard.event, failure) });
      tried += 1;
      if (passes) letThrough += 1;
      expect(passes).toBe(false);
      expect(of("HooksAsked").find(({ event }) => event === guard.event)).toMatchObject({ depth });
      expect(of("TurnEnded")).toHaveLength(1);
    });

    test("a hook whose bundle cannot be told to be active blocks", async () => {
      const bundle = `---\ntype: plugin\ncondition: ctx.get("limit") + 1 == 2\nhooks:\n  - name: bundled\n    event: ${guard.event}\n    priority: 1\n    script: |\n      def handle(event, payload):\n          return allow()\n---\n`;
      const { passes } = await turnPasses(guard, depth, { ".harness/plugins/limits.md": bundle });
      tried += 1;
      if (passes) letThrough += 1;
      expect(passes).toBe(false);
    });

    test("an edit that breaks a hook leaves the last good one in force", async () => {
      const good = hook(guard.event, { body: 'return block("not here")' });
      const rig = await createProjectRig(
        { "harness.md": HARNESS, ".harness/tools/touch.md": TOUCH, ".harness/hooks/guard.md": good },
        [...guard.replies, ...guard.replies],
        { depth },
      );
      await rig.send();
      tried += 1;
      expect(guard.passed(rig)).toBe(false);
      rig.write(".harness/hooks/guard.md", good.replace("def handle(event, payload):", "def handle(event payload):"));
      await rig.send();
      tried += 1;
      if (guard.passed(rig)) letThrough += 1;
      expect(guard.passed(rig)).toBe(false);
      expect(rig.of("ProjectChanged")).toMatchObject([
        { in_force: false, problems: [expect.stringContaining(".harness/hooks/guard.md:5:27")] },
      ]);
    });

    test("on_error: allow lets it go on, with a warning", async () => {
      const opted = hook(guard.event, { body: 'fail("no")' }, "on_error: allow\n");
      const { passes, of } = await turnPasses(guard, depth, { ".harness/hooks/guard.md": opted });
      expect(passes).toBe(true);
      expect(of("HookError")).toMatchObject([{ hook: "guard", event: guard.event }]);
    });
  });
}

function testGuardsOfDelegation(depth: number, isTried: IsTried): void {
  const guarded = [
    { event: "delegation.pre", happened: (rig: DelegationRig) => rig.children().length > 0 },
    { event: "delegate.pre", happened: (rig: DelegationRig) => rig.children().length > 0 },
    {
      event: "delegation.post_verify",
      happened: (rig: DelegationRig) => rig.of("ToolResult").some(({ outcome }) => outcome === "ok"),
    },
  ] as const;
  const delegated = async (guard: string): Promise<DelegationRig> => {
    const rig = await createDelegationRig(
      { ".harness/agents/scout.md": agentFile("scout"), ".harness/hooks/guard.md": guard },
      {
        root: [delegates({ agent: "scout", task: "Look.", max_verify_retries: 0 }), answers("done")],
        scout: [answers("found")],
      },
      { depth },
    );
    await rig.send("go");
    return rig;
  };

  describe.each(guarded.filter(({ event }) => waysOf(event, depth, isTried).length > 0))(
    "$event",
    ({ event, happened }) => {
      test("passes with a hook that allows", async () => {
        expect(happened(await delegated(hook(event, { body: "return allow()" })))).toBe(true);
      });

      test.each(waysOf(event, depth, isTried))("a hook that %s blocks", async (_name, failure) => {
        const passes = happened(await delegated(hook(event, failure)));
        tried += 1;
        if (passes) letThrough += 1;
        expect(passes).toBe(false);
      });
    },
  );
}
