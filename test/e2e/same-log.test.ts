/** The same things done over every wire, and in this process, leave the same log: event by event, field by field. */
import { expect, test } from "vitest";
import { type Connection, type Feed, wires } from "#conformance";
import type { Event } from "#protocol";
import { ownProgram, ownTarget } from "../fakes/conformance-targets.ts";

const text = (words: string) => [{ type: "text", text: words }];

/** Everything that a log of one session can hold which does not depend on time: turns, answers, a queue, words, undo, a cancel. */
async function perform(client: Connection): Promise<readonly Event[]> {
  await client.handshake();
  const { session } = await client.create();
  if (session === undefined) throw new Error("no session");
  const feed = await client.watch(session, 0);
  let turns = 0;
  let questions = 0;
  const ended = async (): Promise<void> => {
    turns += 1;
    await nth(feed, "TurnEnded", turns);
  };
  const send = async (input: string): Promise<void> => {
    expect(await client.send(session, input)).toMatchObject({ ok: true });
  };
  const submit = async (command: Parameters<Connection["submit"]>[1]): Promise<void> => {
    expect(await client.submit(session, command)).toMatchObject({ ok: true });
  };
  const ask = async (file: string): Promise<string> => {
    await send(`write ${file}`);
    questions += 1;
    const { callId } = await nth(feed, "PermissionRequested", questions);
    if (callId !== undefined) return callId;
    const asked = (await client.log(session)).filter((event) => event.kind === "PermissionRequested").at(-1);
    return asked?.kind === "PermissionRequested" ? asked.payload.call_id : "";
  };
  const answer = (call_id: string, decision: string) => submit({ kind: "AnswerPermission", call_id, decision });

  await send("say hello");
  await ended();
  await answer(await ask("allowed.txt"), "allow_once");
  await ended();
  await answer(await ask("denied.txt"), "deny");
  await ended();
  await send("think");
  await ended();
  const queued = await ask("queue.txt");
  await submit({ kind: "QueueInput", content: text("say hello") });
  await answer(queued, "deny");
  await ended();
  await ended();
  const steered = await ask("steer.txt");
  await submit({ kind: "SteerTurn", content: text("steer: look left") });
  await answer(steered, "deny");
  await ended();
  await submit({ kind: "EnterPlanMode" });
  await send("write planned.txt");
  await ended();
  await submit({ kind: "ExitPlanMode", approve: true });
  await ask("cancelled.txt");
  await client.cancel(session);
  await ended();
  await submit({ kind: "RunShellCommand", command: "gh auth token" });
  await ended();
  await submit({ kind: "UndoTurn" });
  await send("say hello");
  await ended();
  await submit({ kind: "EndSession" });
  const log = await client.log(session);
  await client.close();
  return log;
}

function nth(feed: Feed, kind: string, n: number) {
  return feed.until((one) => feed.seen.filter((seen) => seen.kind === kind)[n - 1] === one, `${kind} ${n}`);
}

test("the log is the same, whichever way the commands came", async () => {
  const logs: Record<string, readonly unknown[]> = {};
  for (const wire of wires) {
    // Its own log, in files of the folder, would make the folder look like one with a project.
    const target = wire === "rpc" ? ownProgram({ flags: ["--store", "sqlite"] }) : await ownTarget(wire);
    logs[wire] = comparable(await perform(await target.connect()));
  }
  const expected = logs["in-process"] ?? [];
  expect(expected.length).toBeGreaterThan(80);
  for (const wire of wires) expect({ wire, log: logs[wire] }).toEqual({ wire, log: expected });
});

/**
 * Without what is different in every run: ids, times, hashes over them, folders; how a text was cut into deltas; and the token of a
 * queued input, which a pipe does not have.
 */
function comparable(log: readonly Event[]): readonly unknown[] {
  return merged(log).map((event) => {
    const { kind, originator } = event;
    const payload = event.kind === "InputQueued" ? { ...event.payload, allowed_by: undefined } : event.payload;
    if (kind === "TurnTiming") return { kind };
    const plain = JSON.stringify({ kind, hasOriginator: originator !== undefined, payload })
      .replace(/\b(sess|turn|call|cli|appr)_[0-9A-Z]{26}\b/g, "$1")
      .replace(
        /"(duration_ms|expires_at|bound_to|policy_version|working_dir|queued|lasting|source)":("[^"]*"|[\d.]+|\[[^\]]*\])/g,
        '"$1":0',
      )
      .replace(/\/tmp\/[^"\s]*/g, "/tmp");
    return JSON.parse(plain) as unknown;
  });
}

/** Deltas of one text that follow each other, as one: how they were cut is a matter of milliseconds. */
function merged(log: readonly Event[]): readonly Event[] {
  const events: Event[] = [];
  for (const event of log) {
    const last = events.at(-1);
    if (isDelta(event) && last !== undefined && isDelta(last) && placeOf(last) === placeOf(event)) {
      last.payload.text += event.payload.text;
    } else events.push(structuredClone(event));
  }
  return events;
}

type Delta = Extract<Event, { kind: "TextDelta" | "ThinkingDelta" }>;

const isDelta = (event: Event): event is Delta => event.kind === "TextDelta" || event.kind === "ThinkingDelta";

/** Deltas of the same kind, step and block are parts of one text. */
function placeOf({ kind, payload }: Delta): string {
  return JSON.stringify([kind, { ...payload, text: "" }]);
}
