import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorkspaceRestore } from "#world";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createWorkspaceChanges } from "./workspace-changes.ts";

function open() {
  const workspace = createTemporaryWorkspace();
  const { root } = workspace;
  for (const folder of [".harness", ".git/hooks", "state/own", "src"])
    mkdirSync(join(root, folder), { recursive: true });
  const options = { protectedNames: [".harness"], hidden: ["state/own", "token"], file: "a.cassette" };
  return { root, changes: createWorkspaceChanges({ root, restore: createWorkspaceRestore(root), ...options }) };
}

test("what steers programs and what belongs to the program is on no cassette", async () => {
  const { root, changes } = open();
  const before = await changes.look();
  for (const path of [".harness/a", ".git/hooks/a", "state/own/token", "token", "src/a"]) {
    writeFileSync(join(root, path), "new");
  }
  expect((await changes.since(before)).map(({ path }) => path)).toEqual(["src/a"]);
});

test.each([".harness/a", ".HARNESS/a", "src/.Git/a", ".git/hooks/a", "state/own/a", "State/OWN/a", "token", "TOKEN"])(
  "a cassette does not write %s, on whichever disk",
  async (path) => {
    const { changes } = open();
    await expect(changes.make([{ is: "file", path, mode: 0o644, content: "x" }])).rejects.toMatchObject({
      reason: "CassetteInvalid",
    });
  },
);

test("a folder that becomes a link while it is read does not bring a file from outside onto the cassette", async () => {
  const { root, changes } = open();
  const outside = createTemporaryWorkspace().root;
  writeFileSync(join(outside, "key"), "secret");
  const before = await changes.look();
  writeFileSync(join(root, "src/key"), "mine");
  const swapping = new Map(before);
  swapping.get = (path) => {
    if (path === "src/key") {
      renameSync(join(root, "src"), join(root, "moved"));
      symlinkSync(outside, join(root, "src"));
    }
    return before.get(path);
  };
  await expect(changes.since(swapping)).rejects.toMatchObject({ reason: "CassetteNotWritten" });
});
