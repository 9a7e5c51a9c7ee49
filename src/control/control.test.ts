import { describe, expect, test } from "vitest";
import { createUlidFactory } from "#base";
import type { Redaction, SessionStore } from "#engine";
import { type Command, createIdMint, type Event, SessionId } from "#protocol";
import { createFakeProvider, says, text } from "../../test/fakes/fake-provider.ts";
import { createFakeStore } from "../../test/fakes/fake-store.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { noRedaction } from "../../test/fakes/no-redaction.ts";
import { createPlainSession, plainLiveSession, undoneNothing } from "../../test/fakes/plain-session.ts";
import { createControl } from "./control.ts";

const id = SessionId.from("0".repeat(26));

function rig(
  change: Partial<SessionStore> = {},
  restoring: Promise<void> = Promise.resolve(),
  redaction: Redaction = noRedaction,
) {
  const clock = createManualClock();
  const ids = createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } }));
  const base = createFakeStore();
  const updates: unknown[] = [];
  const store: SessionStore = {
    ...base,
    update: async (_id, update) => void updates.push(update),
    ...change,
  };
  let released = false;
  const control = createControl({
    clock,
    ids,
    store,
    profile: "default",
    customHandlers: new Map(),
    async open() {
      const engine = createPlainSession({
        id,
        clock,
        ids,
        store,
        log: base.log(id),
        redaction,
        provider: createFakeProvider([says(text("one")), says(text("two")), says(text("three"))]),
      });
      return plainLiveSession(engine, {
        begin: () => engine.bus.publish("SessionStarted", { working_dir: "/w", profile: "p", model: "fake:one" }),
        release: async () => {
          released = true;
        },
        restore: async (command) => {
          await restoring;
          return undoneNothing(id, command.kind === "Redo" ? "redo" : "undo");
        },
      });
    },
  });
  const connect = (identityClass: "human" | "agent" = "human") => {
    const seen: Event[] = [];
    const client = control.connect({ identityClass, interactive: false, onEvent: (e) => seen.push(e) });
    return { client, seen, ids: () => seen.map((event) => event.id) };
  };
  return { base, control, connect, updates, isReleased: () => released };
}

const input = { kind: "SendInput", session: id, content: [{ type: "text", text: "hi" }] } as const satisfies Command;

describe("control", () => {
  test.each([
    ["SendInput", [""]],
    ["SendInput", [" \n\t", "\u00a0"]],
    ["QueueInput", ["  "]],
    ["SteerTurn", [""]],
  ] as const)("%s of %j is refused: there is nothing to do", async (kind, texts) => {
    const { connect } = rig();
    const { client, seen } = connect();
    await client.submit({ kind: "CreateSession" });
    const content = texts.map((one) => ({ type: "text" as const, text: one }));
    await expect(client.submit({ kind, session: id, content })).rejects.toMatchObject({
      reason: "InvalidCommand",
      message: expect.stringContaining("empty or blank"),
    });
    expect(seen.map((event) => event.kind)).toEqual(["SessionStarted"]);
  });

  test.each([
    ["is redacted", (text: string) => text.replaceAll("s3cret", "«redacted:x»"), "«redacted:x»", "StoreFailed"],
    [
      "is withheld where it cannot be",
      (text: string) => {
        if (text.includes("s3cret")) throw new Error(text);
        return text;
      },
      "",
      "RedactionFailed",
    ],
  ])("what a lost turn says %s", async (_how, clean, contained, reason) => {
    const { base, control } = rig({}, undefined, {
      ...noRedaction,
      payload: (_kind, payload) => JSON.parse(clean(JSON.stringify(payload))),
    });
    const lost = Promise.withResolvers<Event>();
    const client = control.connect({
      identityClass: "human",
      interactive: false,
      onEvent(event) {
        if (event.kind === "TurnStarted") base.failWith = new Error("EIO: write '/home/s3cret/log'");
        if (event.kind === "TurnLost") lost.resolve(event);
      },
    });
    await client.submit({ kind: "CreateSession" });
    await client.submit(input);
    const { payload } = await lost.promise;
    expect(payload).toMatchObject({ reason, message: expect.stringContaining(contained) });
    expect(JSON.stringify(payload)).not.toContain("s3cret");
  });

  test("only a person chooses another profile than that of the program", async () => {
    const { connect, control } = rig();
    const agent = connect("agent").client;
    await expect(agent.submit({ kind: "CreateSession", profile: "fast" })).rejects.toMatchObject({
      reason: "NotAllowed",
      message: expect.stringContaining("Only a human may choose the profile of a session"),
    });
    expect(control.sessions()).toEqual([]);
    await agent.submit({ kind: "CreateSession", profile: "default" });
    expect(await connect().client.submit({ kind: "CreateSession", profile: "fast" })).toEqual({ session: id });
  });

  test("a client that catches up while a turn runs sees every event once and in order", async () => {
    const gate = Promise.withResolvers<void>();
    const { base, connect } = rig({
      async read(_id, { after, limit }) {
        const page = base.events.filter((event) => event.id > after).slice(0, limit);
        await gate.promise;
        return page;
      },
    });
    const first = connect();
    await first.client.submit({ kind: "CreateSession" });
    await (await first.client.submit(input)).done;
    const second = connect();
    const attached = second.client.submit({ kind: "AttachSession", session: id, since: 0 });
    await (await first.client.submit(input)).done;
    gate.resolve();
    await attached;
    await (await first.client.submit(input)).done;
    expect(second.ids()).toEqual(first.ids());
  });

  test("a client that throws is cut off alone", async () => {
    const { control, connect } = rig();
    const { client, seen } = connect();
    await client.submit({ kind: "CreateSession" });
    const broken = control.connect({
      identityClass: "human",
      interactive: false,
      onEvent: () => {
        throw new Error("broken client");
      },
    });
    await broken.submit({ kind: "AttachSession", session: id });
    await (await client.submit(input)).done;
    expect(seen.map(({ kind }) => kind)).toContain("TurnEnded");
  });

  test("resuming a session that is open attaches to it", async () => {
    const { connect } = rig();
    const first = connect();
    await first.client.submit({ kind: "CreateSession" });
    const second = connect();
    expect(await second.client.submit({ kind: "CreateSession", resume: id })).toEqual({ session: id });
    await (await first.client.submit(input)).done;
    expect(second.ids()).toEqual(first.ids().slice(1));
  });

  test("an ended session is recorded as ended and given back", async () => {
    const { connect, updates, isReleased } = rig();
    const { client, seen } = connect();
    await client.submit({ kind: "CreateSession" });
    await client.submit({ kind: "EndSession", session: id });
    expect(seen.at(-1)).toMatchObject({ kind: "SessionEnded", payload: { reason: "user" } });
    expect(updates).toEqual([{ state: "ended" }]);
    expect(isReleased()).toBe(true);
  });

  test("a session is retired when nobody is attached and nothing is to be done, and opens again", async () => {
    const { control, connect, base, updates } = rig();
    const { client } = connect();
    await client.submit({ kind: "CreateSession" });
    expect(await control.retire(id)).toBe(false);
    const { done } = await client.submit(input);
    await client.submit({ kind: "DetachSession", session: id });
    expect(control.sessions()).toMatchObject([{ activity: "running", attached: 0, queued: 0 }]);
    expect(await control.retire(id)).toBe(false);
    await done;
    const retired = control.retire(id);
    const again = client.submit({ kind: "CreateSession", resume: id });
    expect(await retired).toBe(true);
    expect(updates).toEqual([]);
    expect(base.events.find(({ kind }) => kind === "SessionEnded")).toMatchObject({ payload: { reason: "idle" } });
    expect(await again).toEqual({ session: id });
    expect(control.sessions()).toHaveLength(1);
    await client.submit({ kind: "EndSession", session: id });
    expect(await control.retire(id)).toBe(false);
  });

  test("an undo and a turn keep out of each other's way, and an agent takes nothing back", async () => {
    const gate = Promise.withResolvers<void>();
    const { connect } = rig({}, gate.promise);
    const { client } = connect();
    await client.submit({ kind: "CreateSession" });
    const undo = { kind: "UndoTurn", session: id } as const;
    await expect(connect("agent").client.submit(undo)).rejects.toMatchObject({ reason: "NotAllowed" });
    const { done } = await client.submit(input);
    await expect(client.submit(undo)).rejects.toMatchObject({ reason: "TurnInProgress" });
    await done;
    const undone = client.submit(undo);
    await expect(client.submit(input)).rejects.toMatchObject({ reason: "TurnInProgress" });
    await expect(client.submit({ kind: "Redo", session: id })).rejects.toMatchObject({ reason: "TurnInProgress" });
    gate.resolve();
    expect(await undone).toEqual({ result: undoneNothing(id, "undo") });
    await (await client.submit(input)).done;
  });

  test("an agent steers neither conditions nor rules, not by the session that it opens either", async () => {
    const { connect } = rig();
    const human = connect();
    await human.client.submit({ kind: "CreateSession", context: { mode: "safe" } });
    const agent = connect("agent").client;
    const context = { mode: "fast" };
    const refused: readonly Command[] = [
      { kind: "SetContext", session: id, values: context },
      { kind: "RevokeRule", session: id, rule: "exec(git log *)" },
      { kind: "PromoteRule", session: id, rule: "exec(git log *)" },
      { kind: "CreateSession", context },
      { kind: "CreateSession", resume: id, context },
    ];
    for (const command of refused) {
      const answer = await agent.submit(command).catch((error: unknown) => error);
      expect([command.kind, answer]).toMatchObject([command.kind, { reason: "NotAllowed" }]);
    }
    expect(await agent.submit({ kind: "ListRules", session: id })).toEqual({ result: [] });
    expect(await agent.submit({ kind: "CreateSession", resume: id, context: {} })).toEqual({ session: id });
    for (const command of refused.slice(0, 2)) expect(await human.client.submit(command)).toEqual({});
  });

  test("what is not a command is refused with its reason", async () => {
    const { connect } = rig();
    const nonsense = { kind: "Dance" } as unknown as Command; // a client without types can send it
    await expect(connect().client.submit(nonsense)).rejects.toMatchObject({ reason: "InvalidCommand" });
  });
});
