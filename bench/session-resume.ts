/**
 * One resume in a process of its own: opens the log, takes the session, reads what the conversation needs and rebuilds it.
 * Prints the time and the peak memory as JSON. Not measured: starting Node.
 */
import { createConversation } from "#engine";
import { SessionId } from "#protocol";
import { openSqliteStore } from "#sessions";

const [path = "", session = "", keyHex = "", page = "1000"] = process.argv.slice(2);
const key = { bytes: Buffer.from(keyHex, "hex"), source: "the benchmark" };
if (!SessionId.is(session)) throw new Error(`no session id: ${session}`);
const id = session;

const startMs = performance.now();
const store = await openSqliteStore({ path, clock: { now: () => Date.now() }, key });
const meta = await store.get(id);
const log = await store.acquire(id);
const conversation = createConversation();
let events = 0;
for (let after = (await store.historyStart?.(id)) ?? 0; ; ) {
  const read = await store.read(id, { after, limit: Number(page) });
  for (const event of read) conversation.apply(event);
  events += read.length;
  const last = read.at(-1);
  if (last === undefined) break;
  after = last.id;
}
const messages = conversation.messages().length;
const open = (await log.openCalls()).length;
const ms = performance.now() - startMs;
const peakMb = process.resourceUsage().maxRSS / 1024;
await log.release();
await store.close();
process.stdout.write(JSON.stringify({ ms, peakMb, events, messages, open, last: meta?.lastEventId }));
