/**
 * The process that is killed: takes the session up where the last one left it, then runs turn after turn. Tells each event
 * once it is durable, each orphan before it is resolved, and when recovery is over.
 */
import { writeSync } from "node:fs";
import { openSqliteStore } from "#stores";
import { CRASH_CLIENT, openCrashSession } from "./crash-session.ts";

const [path = "", marks = "", keyHex = ""] = process.argv.slice(2);
const tell = (line: string): void => void writeSync(1, `${line}\n`);

tell("start");
const key = { bytes: Buffer.from(keyHex, "hex"), source: "the campaign" };
const store = await openSqliteStore({ path, clock: { now: () => Date.now() }, key });
const { engine } = await openCrashSession({ store, marks, onEvent: ({ id }) => tell(`event ${id}`) });
await engine.begin();
for (const { callId } of engine.recovery.orphans) {
  tell(`orphan ${callId}`);
  await engine.recovery.resolve(callId, "failed", CRASH_CLIENT);
}
tell("ready");
for (;;) await engine.send(CRASH_CLIENT, [{ type: "text", text: "go on" }]).done;
