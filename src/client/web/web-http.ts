/** Requests with `fetch`. It does not say whether the server has seen a request that failed, so one that changes something may have been. */
import { type HttpPort, serverUrl } from "../http-wire.ts";
import { connectionLost, unreachable } from "../refusal.ts";

export function createWebHttp(address: string): HttpPort {
  const base = serverUrl(address).href.replace(/\/$/, "");
  return {
    address,
    async begin({ method, path, headers, body }, signal) {
      const cut = new AbortController();
      try {
        const response = await fetch(`${base}${path}`, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.any([signal, cut.signal]),
          // The token is for this server alone.
          redirect: "error",
          credentials: "omit",
          cache: "no-store",
        });
        return { status: response.status, body: piecesOf(response.body), cut: (cause) => cut.abort(cause) };
      } catch (cause) {
        signal.throwIfAborted();
        throw method === "GET" ? unreachable(address, cause) : connectionLost(address, cause);
      }
    },
  };
}

/** Not every browser can loop over a stream. */
async function* piecesOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = stream?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read();
      if (piece?.value === undefined) return;
      yield piece.value;
    }
  } finally {
    await reader?.cancel().catch(() => undefined); // it has ended, or was cut
  }
}
