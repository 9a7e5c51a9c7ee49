/** A call that makes other calls, with undo on: they are part of what it changed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const OUTER =
  '---\nparameters: {}\nscript: |\n  def run(args):\n      fs.write("outer.txt", "x")\n' +
  '      return meta.call_tool("fs.write", {"path": "inner.txt", "content": "x"})\n---\n\nWrites twice.\n';

test("the call inside does not wait for the one around it, and both are taken back together", async () => {
  const { outside } = createTemporaryWorkspace();
  const rig = await createProjectRig(
    { "harness.md": "---\nmeta: { enabled: true }\n---\n\nBe brief.\n", ".harness/tools/outer.md": OUTER },
    [calls(["outer", {}]), says("done")],
    { autoApprove: true, undo: { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) } },
  );
  await rig.send();
  const written = (): boolean[] => ["outer.txt", "inner.txt"].map((file) => existsSync(join(rig.workspace.root, file)));
  expect(rig.results()).toHaveLength(2);
  expect(written()).toEqual([true, true]);
  await rig.submit({ kind: "UndoTurn" });
  expect(written()).toEqual([false, false]);
});
