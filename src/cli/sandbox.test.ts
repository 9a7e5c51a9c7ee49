import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { hasSandbox } from "../../test/fakes/test-sandbox.ts";

describe.runIf(hasSandbox)("harness sandbox check", () => {
  test("writes out what a terminal would obey in the names of the workspace", async () => {
    const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
    // A command that was allowed may have made it.
    const module = ".git/modules/\u001b]0;title\u0007\u202e";
    cli.put(".git/HEAD", "ref: refs/heads/main\n");
    cli.put(`${module}/HEAD`, "ref: refs/heads/main\n");
    mkdirSync(join(cli.workspace, module, "hooks"));
    for (const flags of [[], ["--json"]]) {
      const { out } = await cli.run("sandbox", "check", ...flags);
      expect(out).toContain("title");
      for (const hidden of "\u001b\u0007\u202e") expect(out).not.toContain(hidden);
    }
  });
});
