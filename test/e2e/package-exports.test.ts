/** What a project imports from the built package; `test/campaigns/installed.test.ts` packs, installs and compiles against it. */
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createCliHome } from "../fakes/cli-process.ts";
import { launcher } from "../fakes/launcher.ts";

test("every export is there, and an embedded turn runs with its log on disk", async () => {
  const home = createCliHome();
  mkdirSync(join(home.workspace, "node_modules"));
  symlinkSync(dirname(dirname(launcher)), join(home.workspace, "node_modules", "harness-runtime"));
  home.put("model.yaml", "name: m\nrules: []\notherwise: [{ text: At your service. }]\n");
  const file = home.put(
    "embedding.mjs",
    `import { createHarness } from "harness-runtime";
    import { connect } from "harness-runtime/client";
    import { compile } from "harness-runtime/starlark";
    import schema from "harness-runtime/protocol.schema.json" with { type: "json" };
    const harness = await createHarness({ model: "scripted:./model.yaml", logFile: "log.db" });
    console.log((await harness.prompt("hello")).text, typeof connect, typeof compile, schema.$id);
    await harness.close();
    await createHarness({ apiKey: "x" }).catch(({ stack }) => console.log(stack));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: home.workspace, env: home.env });
  const [said, ...stack] = stdout.split("\n");
  expect(said).toBe("At your service. function function harness-protocol");
  expect(stack.join("\n")).toMatch(/at (?:async )?createHarness \(file:.*\/dist\/embed\.js:\d{2,}:\d{1,3}\)/);
});
