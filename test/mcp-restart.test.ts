/** `harness mcp restart` through a server of sessions, as a daemon is one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callCli } from "./fakes/cli-call.ts";
import { createCliHome } from "./fakes/cli-process.ts";
import { says } from "./fakes/harness-rig.ts";
import { createHttpRig } from "./fakes/http-rig.ts";
import { shell, shown } from "./fakes/mcp-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

describe.runIf(hasSandbox)("harness mcp restart", () => {
  test("restarts a shared server once for all of its sessions, and says where", async () => {
    const { outside } = createTemporaryWorkspace();
    const rig = await createHttpRig([says("one"), says("two")], {
      extraEnv: { HOME: outside, XDG_DATA_HOME: outside },
      settings: { mcpServers: [shown(shell())] },
    });
    const home = createCliHome();
    const tokenFile = join(outside, "token");
    writeFileSync(tokenFile, "human", { mode: 0o600 });
    const restart = (name: string, ...more: string[]) =>
      callCli(home, [
        "mcp",
        "restart",
        name,
        "--connect",
        `unix:${rig.socketPath}`,
        "--token-file",
        tokenFile,
        ...more,
      ]);
    const second = await rig.client.submit({ kind: "CreateSession" });
    await rig.send();
    const content = [{ type: "text", text: "hello" }] as const;
    await (await rig.client.submit({ kind: "SendInput", session: second.session, content: [...content] })).done;
    const { code, out } = await restart("shell", "--json");
    expect(code).toBe(0);
    const { sessions } = JSON.parse(out) as { sessions: { session: string; text: string }[] };
    expect(sessions.map(({ session }) => session).toSorted()).toEqual([rig.session, second.session].toSorted());
    expect(rig.harness.servers()).toMatchObject([
      { name: "shell", state: "ready", restarts: 1 },
      { name: "shell", state: "ready", restarts: 1 },
    ]);
    expect(await restart("nobody")).toMatchObject({
      code: 1,
      err: "No open session of the daemon has an MCP server 'nobody'.\n",
    });
  });
});

test("without a daemon it says that there is nothing to restart", async () => {
  const { code, err } = await callCli(createCliHome(), ["mcp", "restart", "shell"]);
  expect(code).toBe(1);
  expect(err).toContain("Without a daemon there is nothing to restart");
});
