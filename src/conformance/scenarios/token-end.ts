/** The end of a token that is in use, and addresses that other machines can reach. */
import { messageOf } from "#base";
import type { Connection, Feed, Target } from "../driver.ts";
import { Refused } from "../drivers/rest.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf, textField } from "../sighting.ts";
import { NotApplicable, nth, type Trial } from "../trial.ts";
import { ended, eventsOf, type Stage } from "./steps.ts";

/** Of a token that is made to end: long enough to open its streams, and at its end from the beginning. */
const LIFE_SECONDS = 5;
/** Between two looks whether its end has come. */
const LOOK_MS = 200;
/** What is attached goes on for so long after it. */
const DRAIN_MS = 60_000;

export const tokenEndScenarios: readonly Scenario[] = [
  scenario("a token that expires while it is in use", ["rest", "ws"], ["auth:expiring", "auth:drain"]).onStage(
    async (human, trial) => {
      const { connection, feed, jti, exp } = await shortLived(trial, human);
      const { event } = await nth(feed, "TokenExpiring", 1);
      const told = [textField(event, "payload", "token"), textField(event, "payload", "expires_at")].join();
      const expected = [jti, new Date(exp * 1000).toISOString()].join();
      trial.check("auth:expiring", told === expected, `TokenExpiring names ${told} instead of ${expected}`);
      const kept = eventsOf(await human.connection.log(human.session), "TokenExpiring").length;
      trial.check("auth:expiring", kept === 0, "TokenExpiring is in the log");
      const reason = await firstRefusal(trial, connection, human.session);
      trial.check("auth:drain", reason === "TokenExpired", `after the token expired, the server answered ${reason}`);
      const again = await refusalOf(() => connection.watch(human.session));
      trial.check("auth:drain", again !== undefined, "the server opened another stream after the token expired");
      await human.connection.send(human.session, "say hello");
      await ended(human.feed);
      // On the stream of the token that is over.
      const seen = await ended(feed).then(() => undefined, messageOf);
      trial.check("auth:drain", seen === undefined, `the open stream did not continue: ${seen}`);
    },
  ),
  scenario("the end of the drain period", ["rest", "ws"], ["auth:drain-end"], ["time"]).onStage(
    async (human, trial) => {
      const { connection, feed } = await shortLived(trial, human);
      await firstRefusal(trial, connection, human.session);
      await trial.target.passTime?.(DRAIN_MS + LIFE_SECONDS * 1000);
      // Nothing else happens in the session: what ends the wait is the end of the stream, or that it is late.
      const why = await feed
        .until(({ kind }) => kind === "TurnStarted", "the end of the stream")
        .then(String, messageOf);
      trial.check("auth:drain-end", !why.includes("within"), "the stream is still open");
    },
  ),
  scenario("an address that other machines can reach", ["rest"], ["auth:tls", "auth:lan-scope"], ["lan"]).runs(
    async (trial) => {
      const lan = lanOf(trial.target);
      const plain = await lan
        .exchange(["GET /v1/health HTTP/1.1", `Host: ${lan.host}`, "Connection: close"])
        .catch(messageOf);
      trial.check("auth:tls", !/^HTTP\/1\.1 [23]/.test(plain), `without TLS, the server answers ${plain.slice(0, 40)}`);
      const { status: without } = await lan.ask("GET", "/v1/health", { token: null });
      trial.check("auth:tls", without === 401, `without a token, the server answers ${without}`);
      const { status, json } = await lan.ask("GET", "/v1/health");
      const reason = textField(json, "error", "reason");
      trial.check(
        "auth:lan-scope",
        status === 403 && reason === "TokenScope",
        `the server answers ${status} ${reason}`,
      );
    },
  ),
];

interface ShortLived {
  readonly connection: Connection;
  readonly feed: Feed;
  readonly jti: string;
  readonly exp: number;
}

/** A client whose token, made with that of the human, ends in a moment; it is attached. */
async function shortLived(trial: Trial, { connection: human, session }: Stage): Promise<ShortLived> {
  const commands = ["AttachSession", "CancelTurn", "ListRules"];
  const body = { sessions: [session], commands, identity_class: "human", ttl_seconds: LIFE_SECONDS };
  const made = await human.http?.ask("POST", "/v1/auth/tokens", { body });
  const [token, jti] = [textField(made?.json, "token"), textField(made?.json, "claims", "jti")];
  const exp = fieldOf(made?.json, "claims", "exp");
  if (token === undefined || jti === undefined || typeof exp !== "number") {
    const why = textField(made?.json, "error", "reason") ?? `status ${made?.status}`;
    throw new NotApplicable(
      `this token cannot mint other tokens (${why}); create one that can with harness token mint --can-mint`,
    );
  }
  const connection = await trial.target.withToken?.(token);
  if (connection === undefined) throw new NotApplicable("this target cannot connect with a token that the suite mints");
  trial.keep(connection);
  await connection.handshake();
  return { connection, feed: await connection.watch(session), jti, exp };
}

/** Why a harmless command is refused in the end. */
async function firstRefusal(trial: Trial, connection: Connection, session: string): Promise<string> {
  for (let waitedMs = 0; waitedMs < LIFE_SECONDS * 3 * 1000; waitedMs += LOOK_MS) {
    const { ok, reason = "no reason" } = await connection.cancel(session);
    if (!ok) return reason;
    await trial.pause(LOOK_MS);
  }
  return "success";
}

async function refusalOf(open: () => Promise<Feed>): Promise<Refused | undefined> {
  try {
    await open();
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function lanOf({ lan }: Target): NonNullable<Target["lan"]> {
  if (lan === undefined) throw new NotApplicable("no LAN address is named");
  return lan;
}
