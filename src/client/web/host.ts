/** A client in a page: `fetch` and the web sockets of the browser, to a server that allows the origin of the page. */
import { ReasonError } from "#protocol";
import { sleep } from "#world/sleep";
import type { ClientClock, ClientHost } from "../client-host.ts";
import { createHttpTransport } from "../http-transport.ts";
import { createSocketTransport } from "../socket-transport.ts";
import type { Target } from "../target.ts";
import { tokenOf } from "../token.ts";
import type { Transport } from "../transport.ts";
import { createWebHttp } from "./web-http.ts";
import { webSockets } from "./web-sockets.ts";

export function clientHost(): ClientHost {
  return {
    clock: { monotonicMs: () => performance.now(), sleep },
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    transportTo,
  };
}

async function transportTo(target: Target, clock: ClientClock): Promise<Transport> {
  if (!("url" in target)) throw onlyInNode("a target without a url");
  const http = createWebHttp(target.url);
  const token = tokenOf(target, http.address, async () => {
    throw onlyInNode("a token file");
  });
  const options = { http, token, clock };
  return target.wire === "ws"
    ? createSocketTransport({ ...options, sockets: webSockets(target.url) })
    : createHttpTransport(options);
}

function onlyInNode(what: string): ReasonError {
  return new ReasonError("UsageInvalid", `${what} needs Node; a page connects with a url and a token`);
}
