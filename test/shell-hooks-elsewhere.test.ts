/** Shell hooks around delegates and cassettes, and scripts in the home folder of the user. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { says as answers, text, toolCall } from "./fakes/fake-provider.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createHookedRig, shellHook } from "./fakes/hooked-run.ts";
import { agentFile, delegates } from "./fakes/roles.ts";

const GUARD = shellHook({
  event: "PreToolUse",
  command: "grep -q forbidden && { echo not for delegates either >&2; exit 2; }; exit 0",
});

test("the calls of a delegate are asked about, its task and its end are not", async () => {
  const prompts = shellHook({ event: "UserPromptSubmit", command: "echo asked >> prompts.log" });
  const stops = shellHook({ event: "Stop", command: "echo asked >> stops.log" });
  const rig = await createDelegationRig(
    { ".harness/agents/worker.md": agentFile("worker", "tools: [fs.write]\n") },
    {
      root: [delegates({ agent: "worker", task: "write it" }), answers(text("done"))],
      worker: [answers(toolCall("fs.write", { path: "forbidden.txt", content: "x" })), answers(text("tried"))],
    },
    { autoApprove: true, settings: { hooks: [GUARD, prompts, stops] } },
  );
  await rig.send();
  const [child] = rig.children();
  expect(rig.ofSession(child, "ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
  expect(existsSync(join(rig.workspace.root, "forbidden.txt"))).toBe(false);
  expect(rig.ofSession(child, "HooksAsked").map(({ event }) => event)).toEqual(["tool.pre"]);
});

test("a replay runs no hook and gives the same log", async () => {
  const settings = { hooks: [GUARD, shellHook({ event: "UserPromptSubmit", command: "echo context; touch ran" })] };
  const replies = [calls(["fs.write", { path: "a.txt", content: "x" }]), says("done")];
  const recording = await record(replies, { autoApprove: true, settings });
  const replay = await startReplay(recording, { autoApprove: true, settings });
  await replay.send("hello");
  await replay.harness.shutdown();
  expect(replay.log()).toBe(recording.log);
});

test("a script in the user's home is seen by its hook, and nothing else of the home is", async () => {
  const rig = await createHookedRig(
    [{ event: "UserPromptSubmit", command: "~/.claude/hooks/context.sh" }],
    [says("done")],
    {
      extraEnv: {},
      prepare(workspace) {
        const home = join(workspace.outside, "home");
        mkdirSync(join(home, ".claude/hooks"), { recursive: true });
        writeFileSync(
          join(home, ".claude/hooks/context.sh"),
          "#!/bin/sh\necho from-home; cat ~/secret 2>&1 || true\n",
          {
            mode: 0o755,
          },
        );
        writeFileSync(join(home, "secret"), "hunter2");
      },
      homeFolder: "home",
    },
  );
  await rig.send();
  const [added] = rig.of("ContextAdded");
  expect(JSON.stringify(added)).toContain("from-home");
  expect(JSON.stringify(added)).not.toContain("hunter2");
});
