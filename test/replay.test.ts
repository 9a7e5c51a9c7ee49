/** Sessions that are recorded on a real vendor, real files and real programs, and replayed elsewhere without any of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { calls, says } from "./fakes/harness-rig.ts";

test("a session with files, commands and parallel reads comes out byte for byte, in another folder", async () => {
  const recording = await record(
    [
      calls(["fs.read", { path: "a.txt" }], ["fs.read", { path: "b.txt" }], ["fs.list", { path: "." }]),
      calls(["fs.write", { path: "made.txt", content: "made\n" }]),
      calls(["exec", { command: "pwd; echo one > from-command.txt; rm a.txt; echo later >&2" }]),
      says("done"),
    ],
    {
      autoApprove: true,
      prepare: (workspace) => {
        workspace.put("a.txt", "A\n");
        workspace.put("b.txt", "B\n");
      },
    },
  );
  const replay = await startReplay(recording, { autoApprove: true });
  expect(await replay.send()).toMatchObject({ outcome: "answered" });
  await replay.harness.shutdown();
  expect(replay.log()).toBe(recording.log);
  expect(readFileSync(join(replay.workspace, "from-command.txt"), "utf8")).toBe("one\n");
  expect(() => readFileSync(join(replay.workspace, "a.txt"))).toThrow("ENOENT");
});
