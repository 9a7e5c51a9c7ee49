/** What a person reads about a session that is not open: whether it was cut off, or ended because nobody needed it. */
import { expect, test } from "vitest";
import { connect } from "#client";
import { SessionId } from "#protocol";
import { createHarnessRig, says } from "../../test/fakes/harness-rig.ts";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { draft, sessionStarted, turnDrafts } from "../../test/fakes/session-drafts.ts";
import { describe } from "./attach-offer.ts";

test("a session that ended because it was idle is not called cut off, neither closed nor opened again", async () => {
  const rig = await createHarnessRig([says("one")]);
  await rig.send("hello");
  await rig.submit({ kind: "DetachSession" });
  const client = await connect({ engine: rig.harness });
  const shown = async () => describe(client, await client.session(rig.session).info(), 0);
  expect(await shown()).toContain(" · idle · ");
  expect(await rig.harness.control.retire(rig.session)).toBe(true);
  expect(await shown()).toContain(" · ended (idle) · ");
  await rig.client.submit({ kind: "CreateSession", resume: rig.session });
  expect(rig.events.filter(({ kind }) => kind === "OrphanedCall" || kind === "Error")).toEqual([]);
  await client.close();
});

test("one whose program was killed is called cut off", async () => {
  const rig = await createHarnessRig([says("one")]);
  await rig.send("hello");
  const client = await connect({
    engine: { ...rig.harness, control: { ...rig.harness.control, sessions: () => [] } },
  });
  expect(await describe(client, await client.session(rig.session).info(), 0)).toContain(" · cut off · ");
  await client.close();
});

test("commands that read the log say why it ended, and none says that it was cut off", async () => {
  const cli = createInProcessCli();
  const id = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");
  await cli.putSession(id, [
    sessionStarted(),
    ...turnDrafts(1, "begin", "the answer"),
    draft("SessionEnded", { reason: "idle" }),
  ]);
  const said = await Promise.all(
    [
      ["sessions", "list"],
      ["sessions", "show", id],
      ["inspect", "--session", id],
      ["sessions", "doctor"],
    ].map((args) => cli.run(...args)),
  );
  const resumed = await cli.run("run", "--resume", id, "--model", "scripted:demo", "go on");
  const all = [...said, resumed].map(({ out, err }) => out + err).join("\n");
  expect(all).not.toMatch(/cut.?off|interrupted/i);
  expect(all).toContain("_Session ended (idle)._");
  expect(all).toMatch(/SessionEnded {2}idle/);
});
