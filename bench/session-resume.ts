/**
 * One resume in a process of its own: opens the log, takes the session and rebuilds its conversation as the program does.
 * Prints the time and the peak memory as JSON. Not measured: starting Node.
 */
import { reopenSession } from "#engine";
import { SessionId } from "#protocol";
import { openSqliteStore } from "#stores";

const [path = "", session = "", keyHex = ""] = process.argv.slice(2);
const key = { bytes: Buffer.from(keyHex, "hex"), source: "the benchmark" };
if (!SessionId.is(session)) throw new Error(`no session id: ${session}`);
const id = session;

const startMs = performance.now();
const store = await openSqliteStore({ path, clock: { now: () => Date.now() }, key });
const meta = await store.get(id);
const log = await store.acquire(id);
const { conversation, eventsRead, openCalls } = await reopenSession(store, log, id);
const messages = conversation.messages().length;
const ms = performance.now() - startMs;
const peakMb = process.resourceUsage().maxRSS / 1024;
await log.release();
await store.close();
process.stdout.write(
  `${JSON.stringify({ ms, peakMb, events: eventsRead, messages, open: openCalls.length, last: meta?.lastEventId })}\n`,
);
