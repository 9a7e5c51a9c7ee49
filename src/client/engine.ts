/** A client of the engine that this program has put together itself. It loads no wire and needs no handshake. */
import type { Clock, Random } from "#base";
import { createEngineClient, type EngineClient } from "./client.ts";
import { createLocalTransport, type LocalEngine } from "./local-transport.ts";
import { DEFAULT_RECONNECT } from "./retry.ts";

export interface ConnectEngineOptions {
  readonly engine: LocalEngine;
  /** False when nobody can be asked. */
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** Whoever opens a session with it loops over its events, from the first one on. */
export function connectEngine({ engine, interactive, clock, random }: ConnectEngineOptions): EngineClient {
  const transport = createLocalTransport({ engine, identityClass: "human", interactive, followsOwn: true });
  const { signal } = new AbortController();
  return createEngineClient({ transport, clock, random, reconnect: DEFAULT_RECONNECT, signal });
}
