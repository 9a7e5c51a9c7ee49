/** Calls that hooks make: whose they are, how deep they are, and that a hook which calls itself ends. */
import { expect, test } from "vitest";
import type { Plugin } from "#engine";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

const HARNESS = "---\nmeta: { enabled: true, max_call_depth: 10 }\npermissions: { allow: ['*'] }\n---\n";

function calling(event: string, when: string): string {
  const script = `  def handle(event, payload):\n      meta.call_tool("fs.list", {"path": "."})\n      return allow()\n`;
  return `---\nevent: ${event}\npriority: 1\nwhen: ${when}\ntimeout_ms: 5000\nscript: |\n${script}---\n`;
}

async function play(hook: string) {
  const seen: { tool: string; nesting: number; originator: string }[] = [];
  const watch: Plugin = {
    name: "watch",
    register: (host) =>
      host.useTool((call, next) => {
        seen.push({ tool: call.tool.name, nesting: call.nesting, originator: call.originator });
        return next(call);
      }),
  };
  const rig = await createProjectRig(
    { "harness.md": HARNESS, ".harness/hooks/calling.md": hook },
    [calls(["fs_glob", { pattern: "*" }]), says("done")],
    { plugins: [watch] },
  );
  await rig.send();
  expect(seen.every(({ originator }) => originator === rig.client.id)).toBe(true);
  return seen.map(({ tool, nesting }) => `${tool} ${nesting}`);
}

test("of a hook on a call are one deeper than that call", async () => {
  expect(await play(calling("tool.pre", 'payload["name"] == "fs.glob"'))).toEqual(["fs.glob 0", "fs.list 1"]);
});

test("of a hook on the turn are inside no other", async () => {
  expect(await play(calling("turn.start", 'event != ""'))).toEqual(["fs.list 1", "fs.glob 0"]);
});

test("that are asked about by the same hook end at the deepest level", async () => {
  const seen = await play(calling("tool.pre", 'event != ""'));
  expect(seen.slice(0, 3)).toEqual(["fs.glob 0", "fs.list 1", "fs.list 2"]);
  expect(seen).toHaveLength(9);
});
