/** A server that is reached over HTTP, tried on one of its wires. */
import type { Clock } from "#base";
import type { Caller, Connection, Target } from "./driver.ts";
import type { HttpPlace, TlsPlace } from "./drivers/http-client.ts";
import { connectPlain } from "./drivers/plain.ts";
import { connectRest, httpPeer } from "./drivers/rest.ts";
import { connectWebSocket } from "./drivers/web-socket.ts";
import { given } from "./sighting.ts";

export const httpWires = ["rest", "ws", "plain"] as const;

export interface HttpTargetOptions {
  readonly place: HttpPlace;
  readonly clock: Pick<Clock, "sleep">;
  readonly waitMs: number;
  /** What each caller has to show. */
  readonly tokens: { readonly [As in "human" | "other human" | "agent"]?: string };
  /** Where other machines can reach it. */
  readonly lan?: TlsPlace;
}

/** A token that no server has given out. */
const STRANGER = "this-token-is-not-known";

export function httpTarget(wire: (typeof httpWires)[number], options: HttpTargetOptions): Target {
  const { tokens, lan, ...rest } = options;
  const tokenOf = (as: Caller): string | undefined => {
    if (as === "nobody") return undefined;
    return as === "stranger" ? STRANGER : tokens[as];
  };
  return {
    wire,
    lacks(as) {
      if (as === "nobody" || as === "stranger" || tokens[as] !== undefined) return undefined;
      if (as === "agent") return "needs an agent's token (--agent-token-file)";
      return as === "human" ? "needs a token (--token-file)" : "needs a second token (--other-token-file)";
    },
    connect: (as = "human") => connectWith(tokenOf(as)),
    withToken: connectWith,
    ...(lan === undefined ? {} : { lan: httpPeer({ ...rest, place: lan, ...given("token", tokens.human) }) }),
  };

  async function connectWith(token: string | undefined): Promise<Connection> {
    const own = { ...rest, ...given("token", token) };
    if (wire === "ws") return connectWebSocket(own);
    return wire === "rest" ? connectRest(own) : connectPlain(own);
  }
}
