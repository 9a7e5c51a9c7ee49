/** Which resources of a connection are watched, in the way of its era: one request each, or one stream that names all of them. */
import type { Client, McpSubscription } from "@modelcontextprotocol/client";
import { createSerial, messageOf } from "#base";
import type { ServerLog } from "./server-log.ts";

/** Of one connection; those beyond it are read without being watched. */
const MAX_WATCHED = 100;
/** On the clock of the machine: nobody waits for it. */
const TIMEOUT_MS = 10_000;

/** Never rejects: a resource that cannot be watched was read all the same. */
export function createSubscriptions(client: Client, log: ServerLog): (uri: string) => Promise<void> {
  const watched = new Set<string>();
  const serial = createSerial();
  let stream: McpSubscription | undefined;

  async function watch(uri: string): Promise<void> {
    if (client.getProtocolEra() !== "modern") {
      await client.subscribeResource({ uri }, { timeout: TIMEOUT_MS });
      return;
    }
    const previous = stream;
    stream = await client.listen({ resourceSubscriptions: [...watched, uri] }, { timeout: TIMEOUT_MS });
    await previous?.close();
  }

  return (uri) =>
    serial(async () => {
      const isOffered = client.getServerCapabilities()?.resources?.subscribe === true;
      if (!isOffered || watched.has(uri) || watched.size >= MAX_WATCHED) return;
      try {
        await watch(uri);
        watched.add(uri);
      } catch (error) {
        log.line("warn", `a resource is not watched: ${messageOf(error)}`);
      }
    });
}
