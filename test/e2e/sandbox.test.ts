/** `harness sandbox check` and the sandbox of `harness run`, as users see them. */
import { describe, expect, test } from "vitest";
import { callCli } from "../fakes/cli-call.ts";
import { createCliHome } from "../fakes/cli-process.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

describe("harness sandbox check", () => {
  test.runIf(hasSandbox)("says what was tried, what a command may touch, and exits 0", async () => {
    const home = createCliHome();
    home.put(".vscode/settings.json", "{}");
    const { code, out } = await callCli(home, ["sandbox", "check"]);
    expect(code).toBe(0);
    expect(out).toContain("commands run in bubblewrap; allowed commands reach public hosts through the egress proxy");
    expect(out).toContain("✓ bubblewrap: /usr/bin/bwrap");
    expect(out).toContain(`read-only in the workspace\n  ${home.workspace}/.vscode`);
    const json = await callCli(home, ["sandbox", "check", "--json", "--allowed-domain", "example.com"]);
    expect(JSON.parse(json.out)).toMatchObject({
      active: true,
      network: "listed",
      domains: ["example.com"],
      policy: { workspace: home.workspace, read_only: [`${home.workspace}/.vscode`] },
    });
  });

  test("exits 1 where commands would run without one", async () => {
    const home = createCliHome();
    const off = await callCli(home, ["sandbox", "check", "--sandbox", "off", "--json"]);
    expect({ code: off.code, result: JSON.parse(off.out) }).toMatchObject({
      code: 1,
      result: { mode: "off", active: false },
    });
    const root = await callCli(home, ["sandbox", "check", "-C", "/"]);
    expect(root.code).toBe(1);
    expect(root.out).toContain("no command can run here: the workspace is the whole file system");
  });

  test("a wrong domain or mode is a usage error", async () => {
    const home = createCliHome();
    const wrong = await callCli(home, ["sandbox", "check", "--allowed-domain", "http://x"]);
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining("UsageInvalid: option '--allowed-domain <host>' argument 'http://x' is invalid"),
    });
    expect((await callCli(home, ["sandbox", "check", "--sandbox", "maybe"])).code).toBe(2);
  });
});

test("run refuses to begin in a folder that cannot be a workspace", async () => {
  const home = createCliHome();
  const { code, err } = await callCli(home, ["run", "--sandbox", "required", "-C", "/", "--store", "memory", "hello"]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("it is the whole file system") });
});
