import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSystemClock } from "#world";
import { openInputDraft } from "./input-draft.ts";
import { openInputHistory } from "./input-history.ts";

const ports = () => {
  const home = mkdtempSync(join(tmpdir(), "harness-draft-"));
  const outward = { orNothing: async (text: string) => text.replaceAll("hunter2", "«redacted»") };
  return { env: { HOME: home, XDG_STATE_HOME: join(home, "state") }, clock: createSystemClock(), outward } as never; // what both read of the ports
};

test("what was typed and not sent is there the next time in the same project, without secrets; an empty one removes it", async () => {
  const here = ports();
  await openInputDraft(here, "/a").keep("half an input, hunter2");
  await openInputDraft(here, "/b").keep("another");
  expect(openInputDraft(here, "/a").text).toBe("half an input, «redacted»");
  expect(openInputDraft(here, "/c").text).toBe("");
  await openInputDraft(here, "/a").keep("");
  expect([openInputDraft(here, "/a").text, openInputDraft(here, "/b").text]).toEqual(["", "another"]);
});

test("each project has its own inputs, newest first and without secrets", async () => {
  const here = ports();
  await openInputHistory(here, "/a").add("first");
  await openInputHistory(here, "/b").add("elsewhere");
  await openInputHistory(here, "/a").add("second hunter2");
  expect(openInputHistory(here, "/a").inputs()).toEqual(["second «redacted»", "first"]);
  expect(openInputHistory(here, "/b").inputs()).toEqual(["elsewhere"]);
});
