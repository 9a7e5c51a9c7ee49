/** Streams carry every canonical event, in order, to every client, also after a reconnect. */
import { MARKER_OPENS } from "#base";
import { parseEvent } from "#protocol/schemas";
import type { Feed, Sighting } from "../driver.ts";
import { Refused } from "../drivers/rest.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import { isKind } from "../trial.ts";
import { decide, difference, ended, eventsOf, fileName, hold, type Stage, turn } from "./steps.ts";

const CANONICAL = ["in-process", "rest", "ws"] as const;
/** Turns of about 470,000 characters each: all rounds together exceed every buffer on the way. */
const FILLING_ROUNDS = [6, 12, 30];
const FILLING_CHARS = 3900;
const HEARTBEAT_MS = 30_000;

export const streamScenarios: readonly Scenario[] = [
  scenario("the format of events", CANONICAL, ["stream:envelope", "stream:ids"]).onStage(async (at, trial) => {
    await turn(at, "think");
    for (const [index, { event, raw, id, kind }] of at.feed.seen.entries()) {
      const problem = problemOf(event);
      trial.check("stream:envelope", problem === undefined, `event ${id}: ${problem}`);
      if (trial.target.wire === "rest") {
        const isFramed = fieldOf(raw, "sseId") === String(id) && fieldOf(raw, "sseEvent") === kind;
        trial.check(
          "stream:envelope",
          isFramed,
          `the frame of event ${id} says ${fieldOf(raw, "sseId")} ${fieldOf(raw, "sseEvent")}`,
        );
      }
      trial.check("stream:ids", id === index + 1, `event number ${index + 1} has the id ${id}`);
    }
  }),
  scenario("reconnecting with the last event id", ["in-process", "rest", "ws", "rpc"], ["stream:resume"]).onStage(
    async (at, trial) => {
      await turn(at, "say hello");
      const middle = (await at.connection.log(at.session)).find(isKind("TextDelta"))?.id ?? 0;
      await at.feed.stop();
      const feed = await at.connection.watch(at.session, middle);
      await turn({ ...at, feed }, "think", 2);
      const other = difference(feed, await at.connection.log(at.session), middle);
      trial.check("stream:resume", other === undefined, other ?? "");
    },
  ),
  scenario("reconnecting during a turn", CANONICAL, ["stream:resume-live"]).onStage(async (at, trial) => {
    const { callId } = await hold(at);
    const last = at.feed.seen.at(-1)?.id ?? 0;
    await at.feed.stop();
    // Both at once: what happens while the stream opens must not be lost.
    const [feed] = await Promise.all([
      at.connection.watch(at.session, last),
      decide(at.connection, at.session, callId, "deny"),
    ]);
    await ended(feed);
    const other = difference(feed, await at.connection.log(at.session), last);
    trial.check("stream:resume-live", other === undefined, other ?? "");
  }),
  scenario("an event id that is not in the log", CANONICAL, ["stream:unknown-id"]).onStage(
    async ({ connection, session }, trial) => {
      const refusal = await connection.watch(session, 1_000_000).then(
        async (feed) =>
          feed
            .until(() => false, "a refusal")
            .then(
              () => undefined,
              (error: Error) => error.message,
            ),
        (error: unknown) => (error instanceof Refused ? (error.answer.reason ?? "") : String(error)),
      );
      trial.check("stream:unknown-id", (refusal ?? "").includes("InvalidCommand"), `the server answered ${refusal}`);
    },
  ),
  scenario("two clients at once", ["in-process", "rest", "ws", "plain"], ["stream:same-for-all"]).onStage(
    async (at, trial) => {
      const other = await trial.connect(trial.target.lacks("other human") === undefined ? "other human" : "human");
      const feed = await other.watch(at.session, 0);
      await turn(at, "say hello");
      await turn({ ...at, connection: other }, "think", 2);
      await ended(feed, 2);
      const log = await at.connection.log(at.session);
      for (const one of [at.feed, feed]) {
        const unlike = difference(one, log);
        trial.check("stream:same-for-all", unlike === undefined, unlike ?? "");
      }
    },
  ),
  scenario("expired content", CANONICAL, ["stream:ttl"], ["expired content"]).onStage(async (at, trial) => {
    await turn(at, "say hello");
    const last = (await at.connection.log(at.session)).at(-1)?.id ?? 0;
    await at.feed.stop();
    await trial.target.expireContent?.();
    const feed = await at.connection.watch(at.session, 1);
    await turn({ ...at, feed }, "say hello", 1);
    const [gap, next] = feed.seen;
    const payload = fieldOf(gap?.event, "payload");
    trial.check(
      "stream:ttl",
      gap?.kind === "StreamGap" && fieldOf(payload, "reason") === "ttl",
      `the stream starts with ${gap?.kind} ${JSON.stringify(payload)}`,
    );
    const to = Number(fieldOf(payload, "to"));
    trial.check("stream:ttl", fieldOf(payload, "from") === 2 && to <= last, `the gap is ${JSON.stringify(payload)}`);
    trial.check("stream:ttl", next?.id === to + 1, `the gap ends at ${to} and event ${next?.id} follows`);
  }),
  scenario("a client that does not read", ["rest", "ws"], ["stream:slow", "stream:slow-resume"]).onStage(
    async (at, trial) => {
      const slow = await (await trial.connect()).watch(at.session, 0);
      const gap = await overflow(at, slow);
      trial.check("stream:slow", gap !== undefined, "the server sent everything and reported no StreamGap");
      if (gap === undefined) return;
      const [from, to] = [fieldOf(gap.event, "payload", "from"), fieldOf(gap.event, "payload", "to")];
      const before = slow.seen[slow.seen.indexOf(gap) - 1]?.id ?? 0;
      trial.check(
        "stream:slow",
        from === before + 1,
        `the last event before the gap is ${before}, but the gap starts at ${String(from)}`,
      );
      const outcomes = eventsOf(await at.connection.log(at.session), "TurnEnded").map(({ payload }) => payload.outcome);
      const isDone = outcomes.every((outcome) => outcome === "answered");
      trial.check("stream:slow", isDone, "turns did not end while a client was not reading");
      await slow.stop();
      const back = await at.connection.watch(at.session, before);
      await back.until(({ id }) => id === to, `event ${String(to)}`);
      const ids = back.seen.map(({ id }) => id ?? 0);
      const isWhole = ids.every((id, index) => id === before + 1 + index);
      trial.check("stream:slow-resume", isWhole, "events of the gap are missing after the reconnect");
    },
  ),
  scenario("an idle stream", ["rest", "ws", "plain"], ["stream:heartbeat"], ["time"]).onStage(
    async ({ feed }, trial) => {
      await trial.target.passTime?.(HEARTBEAT_MS + 1000);
      const isAlive = await feed.heartbeat().then(
        () => true,
        () => false,
      );
      trial.check("stream:heartbeat", isAlive, `no heartbeat within ${HEARTBEAT_MS / 1000} s`);
    },
  ),
  scenario("a secret in an input", ["in-process", "rest", "ws", "plain", "rpc"], ["stream:redacted"]).onStage(
    async (at, trial) => {
      // In the form of a GitHub token. Put together here, so that no scanner takes this file for a leak.
      const secret = `${"gh"}p_${"aB3dE5gH7j".repeat(4).slice(0, 36)}`;
      await turn(at, `repeat my token is ${secret}`);
      const told = JSON.stringify(at.feed.seen);
      trial.check("stream:redacted", !told.includes(secret), "the secret is on the stream");
      const log = JSON.stringify(await at.connection.log(at.session));
      trial.check("stream:redacted", !log.includes(secret), "the secret is in the log");
      trial.check("stream:redacted", log.includes(MARKER_OPENS), "the log does not mark the redaction");
    },
  ),
];

function problemOf(event: unknown): string | undefined {
  try {
    parseEvent(event);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 200) : "it is not a canonical event";
  }
}

/** More and more while the client does not read, until something is dropped for it: the gap; undefined when nothing ever is. */
async function overflow(at: Stage, slow: Feed): Promise<Sighting | undefined> {
  const input = `fill ${fileName(at.session)} ${"lorem ipsum ".repeat(FILLING_CHARS / 12)}`;
  let turns = 0;
  for (const more of FILLING_ROUNDS) {
    slow.pause?.();
    for (let n = 0; n < more; n++) {
      turns += 1;
      await turn(at, input, turns);
    }
    slow.resume?.();
    const last = at.feed.seen.at(-1)?.id;
    const seen = await slow.until(
      ({ kind, id }) => kind === "StreamGap" || id === last,
      "StreamGap, or the last event",
    );
    if (seen.kind === "StreamGap") return seen;
  }
  return undefined;
}
