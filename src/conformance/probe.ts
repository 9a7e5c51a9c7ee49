/** Before anything is tried: whether the target is there, and plays the scenario that the inputs are for. */
import { errnoOf, messageOf } from "#base";
import type { Connection, Target } from "./driver.ts";
import { Refused } from "./drivers/rest.ts";
import { HELLO, textIn, turn } from "./scenarios/steps.ts";

/** Why the target cannot be tried; undefined when it can, also where it does something wrong: the scenarios tell that. */
export async function probe(target: Target): Promise<string | undefined> {
  let connection: Connection;
  try {
    connection = await target.connect("human");
    const { status, reason } = await connection.handshake();
    if (status === 401) return `the target refused the token: ${reason}`;
  } catch (error) {
    const isAbsent = ["ENOENT", "ECONNREFUSED", "EACCES", "ENOTFOUND", "EHOSTUNREACH"].includes(errnoOf(error) ?? "");
    const isGone = /did not start|program exited/.test(messageOf(error));
    if (error instanceof Refused && error.answer.status === 401)
      return `the target refused the token: ${error.answer.reason}`;
    return isAbsent || isGone ? `cannot reach the target: ${messageOf(error)}` : undefined;
  }
  try {
    const { session } = await connection.create();
    if (session === undefined) return undefined;
    const feed = await connection.watch(session, 0);
    await turn({ connection, session, feed }, "say hello");
    const said = textIn(await connection.log(session));
    if (said === HELLO) return undefined;
    const told = JSON.stringify(said.slice(0, 80));
    return `the target's model must play the scenario that harness conformance --print-scenario prints, but it answered ${told}`;
  } catch {
    return undefined; // what went wrong is for the scenarios to tell
  } finally {
    await connection.close().catch(() => undefined);
  }
}
