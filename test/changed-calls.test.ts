/** A person changes a call that they are asked about: what runs is the changed call, validated, hooked and judged again. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";

type Args = Record<string, unknown>;
const edit: Args = { path: "a.txt", old_text: "one\n\ntwo\n", new_text: "1\n\n2\n" };

async function rigOf(call: readonly [string, Args] = ["fs.edit", edit], rules: readonly string[] = []) {
  return createHarnessRig([calls([call[0], call[1]]), says("done")], {
    interactive: true,
    prepare: (workspace) => void workspace.put("a.txt", "one\n\ntwo\n"),
    ...(rules.length > 0 && { settings: { rules: { allow: [], ask: [], deny: [...rules] } } as never }),
  });
}

async function answeredWith(rig: HarnessRig, args: Args, before = (): void => undefined) {
  const turn = rig.send();
  const { call_id } = await rig.next("PermissionRequested");
  before();
  await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once", args });
  await turn;
  return rig.of("ToolResult")[0];
}

const text = (rig: HarnessRig): string => readFileSync(join(rig.workspace.root, "a.txt"), "utf8");

test("the accepted part runs; the log says who changed it to what, and the model reads it", async () => {
  const rig = await rigOf();
  const result = await answeredWith(rig, { ...edit, new_text: "1\n\ntwo\n" });
  expect(text(rig)).toBe("1\n\ntwo\n");
  expect(result?.outcome).toBe("ok");
  expect(JSON.stringify(result?.content)).toContain("A person changed the arguments of this call");
  const [answer] = rig.of("PermissionAnswered");
  expect(answer).toMatchObject({ decision: "allow_once", args: { new_text: "1\n\ntwo\n" }, by: rig.client.id });
  expect(rig.of("PermissionAnswered")).toHaveLength(1);
  expect(rig.of("ToolIntent")[0]).toMatchObject({ allowed_by: { by: "person" } });
  expect(rig.of("ToolResult")[0]).toMatchObject({ judged_on: { args: { new_text: "1\n\ntwo\n" } } });
});

test("arguments that the tool does not take are refused before anything runs", async () => {
  const rig = await rigOf();
  const result = await answeredWith(rig, { ...edit, new_text: 7 });
  expect(result).toMatchObject({ outcome: "error", reason: "InvalidArguments" });
  expect(text(rig)).toBe("one\n\ntwo\n");
});

test("a change cannot lead to another file than the one that was asked about", async () => {
  const rig = await rigOf(["fs.write", { path: "b.txt", content: "new" }]);
  const result = await answeredWith(rig, { path: "a.txt", content: "new" });
  expect(result).toMatchObject({ reason: "ApprovalVoid" });
  expect(text(rig)).toBe("one\n\ntwo\n");
});

test("a file that changed since the question voids the changed call as well", async () => {
  const rig = await rigOf();
  const result = await answeredWith(rig, { ...edit, new_text: "1\n\ntwo\n" }, () => {
    writeFileSync(join(rig.workspace.root, "a.txt"), "one\n\ntwo\nthree\n");
  });
  expect(result).toMatchObject({ reason: "ApprovalVoid" });
});

test("another answer than allow once takes no arguments", async () => {
  const rig = await rigOf();
  const turn = rig.send();
  const { call_id } = await rig.next("PermissionRequested");
  await expect(
    rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_tool", args: edit }),
  ).rejects.toMatchObject({ reason: "InvalidCommand" });
  await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
  await turn;
});

test("a question about a whole file says what it holds now and which rules the answers make", async () => {
  const rig = await rigOf(["fs.write", { path: "a.txt", content: "new" }]);
  const turn = rig.send();
  const asked = await rig.next("PermissionRequested");
  expect(asked).toMatchObject({ before: "one\n\ntwo\n", argv_glob: "Write(a.txt)", tool_rule: "fs.write" });
  await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision: "deny" });
  await turn;
});

test("a question about an edit says what the whole file holds now", async () => {
  const rig = await rigOf(["fs.edit", { path: "a.txt", old_text: "two", new_text: "2" }]);
  const turn = rig.send();
  const asked = await rig.next("PermissionRequested");
  expect(asked.before).toBe("one\n\ntwo\n");
  await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision: "deny" });
  await turn;
});
