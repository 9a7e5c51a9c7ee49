/** The banner of sessions that expire within a week: which ones it names, and for how long. */
import { expect, test } from "vitest";
import type { EngineClient } from "#client";
import { SessionId } from "#protocol";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { sessionStarted, turnDrafts } from "../../test/fakes/session-drafts.ts";
import { expiryReminder } from "./expiry-reminder.ts";
import { createOutward } from "./outward.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const [FIRST, SECOND] = ["1", "2"].map((end) => SessionId.from(`01ARZ3NDEKTSV4RRFFQ69G5FA${end}`));

test("it names those that nobody has pinned, once a day anew, until they are hidden or another one joins them", async () => {
  const cli = createInProcessCli();
  const put = async (id: SessionId | undefined, days: number): Promise<void> => {
    const ts = new Date(cli.clock.now() - days * DAY_MS).toISOString();
    if (id !== undefined)
      await cli.putSession(
        id,
        [sessionStarted(), ...turnDrafts(1, "a", "b")].map((one) => ({ ...one, ts })),
      );
  };
  const ports = quietCliPorts({ out: "", err: "" }, { env: cli.env, cwd: cli.workspace, clock: cli.clock });
  const pinned = new Set<string>();
  const client = {
    session: (id: string) => ({ info: async () => ({ id, pinned: pinned.has(id) }) }),
  } as unknown as Pick<EngineClient, "session">; // only what is asked
  const reminder = expiryReminder({ ...ports, args: [], outward: createOutward(ports) }, client, {});
  expect(await reminder.text()).toBe("");
  await put(FIRST, 25);
  const one = `1 session expires this week: ${FIRST} — /sessions:pin or /sessions:export to keep it.`;
  expect(await reminder.text()).toBe(one);
  expect(await reminder.text()).toBe(one);
  pinned.add(String(FIRST));
  expect(await reminder.text()).toBe("");
  pinned.clear();
  await reminder.hide();
  expect(await reminder.text()).toBe("");
  await put(SECOND, 24);
  expect(await reminder.text()).toBe("");
  await cli.clock.advance(DAY_MS);
  const both = `2 sessions expire this week: ${FIRST}, ${SECOND} — /sessions:pin or /sessions:export to keep them.`;
  expect(await reminder.text()).toBe(both);
});
