/**
 * Guards that fail block: every way to fail on one event, three ways on each of the others, and one way below a delegate.
 * `test/campaigns` has the whole matrix. The same hooks on events that guard nothing only warn, and `on_error` turns either around.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { failures, HARNESS, hook, TOUCH, testFailClosed, touched } from "./fakes/fail-closed-matrix.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import type { MockReply } from "./fakes/mock-reply.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

const WAYS = new Set(["raises", "returns nothing", "has a when: that raises"]);

const BELOW = new Set(["tool.pre", "delegate.pre"]);

testFailClosed((event, way, depth) =>
  depth === 0 ? event === "tool.pre" || WAYS.has(way) : BELOW.has(event) && way === "raises",
);

describe("events that guard nothing", () => {
  const informed = ["session.start", "turn.end", "agent.stop", "tool.post", "completion.post"] as const;
  const touches: readonly MockReply[] = [calls(["touch", {}]), says("done"), says("done"), says("done")];

  test.each(informed)("%s: a hook that fails only warns", async (event) => {
    for (const failure of [failures.raises, failures["returns a number"], failures["has a when: that raises"]]) {
      const files = {
        "harness.md": HARNESS,
        ".harness/tools/touch.md": TOUCH,
        ".harness/hooks/watch.md": hook(event, failure ?? { body: "" }),
      };
      const rig = await createProjectRig(files, touches);
      expect(await rig.send()).toMatchObject({ outcome: "answered" });
      expect(touched(rig)).toBe(true);
      expect(rig.of("HookError").at(0)).toMatchObject({ hook: "watch", event });
      rmSync(join(rig.workspace.root, "touched.txt"));
    }
  });

  test.each(["block", "allow"])("a hook that takes too long is told, with on_error: %s", async (onError) => {
    const slow = hook(
      "tool.pre",
      { body: "sleep(30)\n      return allow()" },
      `timeout_ms: 20\non_error: ${onError}\n`,
    );
    const rig = await createProjectRig(
      { "harness.md": HARNESS, ".harness/tools/touch.md": TOUCH, ".harness/hooks/slow.md": slow },
      touches,
    );
    await rig.send();
    expect(touched(rig)).toBe(onError === "allow");
    expect(rig.of("HookTimeout")).toMatchObject([{ hook: "slow", event: "tool.pre", timeout_ms: 20 }]);
    expect(rig.of("HookError")).toEqual([]);
    const canonical = "Hook 'tool.pre' command 'slow' exceeded its 0.02s deadline. Killed.";
    expect(rig.of("HooksAsked")).toMatchObject([{ decisions: [{ reason: expect.stringContaining(canonical) }] }]);
  });

  test("custom.*: a hook that fails only warns", async () => {
    const emits = TOUCH.replace(
      'fs.write("touched.txt", "x")',
      'emit("custom.seen", {"n": 1})\n      fs.write("touched.txt", "x")',
    );
    const files = {
      "harness.md": HARNESS,
      ".harness/tools/touch.md": emits,
      ".harness/hooks/watch.md": hook("custom.seen", { body: 'fail("no")' }),
    };
    const rig = await createProjectRig(files, touches);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(await rig.next("HookError")).toMatchObject({ hook: "watch", event: "custom.seen" });
  });

  test.each(["tool.post", "completion.post", "agent.stop"])("%s with on_error: block blocks", async (event) => {
    const strict = hook(event, { body: 'fail("no")' }, "on_error: block\n");
    const rig = await createProjectRig(
      { "harness.md": HARNESS, ".harness/tools/touch.md": TOUCH, ".harness/hooks/watch.md": strict },
      touches,
    );
    const { outcome } = await rig.send();
    expect(rig.of("HooksAsked").some(({ event: name, blocked }) => name === event && blocked)).toBe(true);
    if (event === "tool.post")
      expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    else expect(outcome).toBe("error");
    expect(rig.of("HookError").at(0)).toMatchObject({ hook: "watch", event });
  });
});
