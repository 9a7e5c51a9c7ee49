/**
 * The second process of bench/attach.ts: a client of the library that reads a session from its first event on. `SOCKET WIRE SESSION
 * EVENTS` on the command line; prints one line of JSON when it has seen so many.
 */
import { connect, SessionId } from "#client";
import { TOKEN } from "./control-plane-server.ts";

const [socket = "", wire = "sse", session = "", wanted = "0"] = process.argv.slice(2);
if (!SessionId.is(session)) throw new Error(`${session} is no session`);
const startMs = performance.now();
const client = await connect(
  { socket, token: TOKEN, wire: wire === "ws" ? "ws" : "sse" },
  { reconnect: { attempts: 1000, firstDelayMs: 1, maxDelayMs: 10 } },
);
let last = 0;
let wrong = 0;
for await (const { id } of client.session(session).events({ since: 0 })) {
  if (id !== last + 1) wrong += 1;
  last = id;
  if (id >= Number(wanted)) break;
}
const ms = performance.now() - startMs;
await client.close();
process.stdout.write(`${JSON.stringify({ last, wrong, ms })}\n`);
