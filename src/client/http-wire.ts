/**
 * Requests on a Unix socket or a TCP port: one connection for each, so that what happened to one says nothing about another. A
 * request that was cut is told apart by whether the server can have seen it.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { ReasonError } from "#protocol";
import { connectionLost, unreachable } from "./refusal.ts";
import { createSilence, type SilenceClock } from "./silence.ts";

/** Where a server listens. */
export type ServerAddress = { readonly socket: string } | { readonly url: string };

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Wire {
  readonly address: string;
  /** Rejects with ServerUnreachable or ConnectionLost. Any status is an answer. */
  ask(request: WireRequest, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }>;
  /** The response as it begins. */
  open(request: WireRequest, signal: AbortSignal): Promise<IncomingMessage>;
}

/** An answer that is not a stream is no larger. */
export const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/** An answer that has not begun by then does not come: the server is there and does nothing. */
export const ANSWER_MAX_MS = 60_000;

export function createWire(server: ServerAddress, clock: SilenceClock): Wire {
  const address = "socket" in server ? `unix:${server.socket}` : server.url;
  const base = "url" in server ? httpUrl(server.url) : undefined;
  const where =
    "socket" in server
      ? { socketPath: server.socket, headers: { host: "localhost" } }
      : { host: base?.hostname.replace(/^\[|\]$/g, ""), port: base?.port || undefined, headers: {} };

  async function open(request: WireRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const late = new AbortController();
    const begun = new AbortController();
    void clock.sleep(ANSWER_MAX_MS, begun.signal).then(() => {
      if (!begun.signal.aborted) late.abort(new Error(`no answer within ${ANSWER_MAX_MS / 1000} seconds`));
    });
    try {
      return await begin(request, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      throw late.signal.aborted && !signal.aborted ? connectionLost(address, late.signal.reason) : error;
    } finally {
      begun.abort();
    }
  }

  function begin({ method, path, headers, body }: WireRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const send = base?.protocol === "https:" ? httpsRequest : httpRequest;
      const request = send({
        ...where,
        method,
        path: `${base?.pathname.replace(/\/$/, "") ?? ""}${path}`,
        agent: false,
        headers: {
          ...where.headers,
          ...headers,
          ...(text === undefined ? {} : { "content-type": "application/json", "content-length": text.length }),
        },
        signal,
      });
      let wasConnected = false;
      request.on("socket", (socket: Socket) => {
        socket.once("connect", () => {
          wasConnected = true;
        });
      });
      request.on("response", resolve);
      request.on("error", (cause) => {
        if (signal.aborted) reject(signal.reason as Error);
        else reject(wasConnected ? connectionLost(address, cause) : unreachable(address, cause));
      });
      request.end(text);
    });
  }

  return {
    address,
    open,
    async ask(request, signal) {
      const response = await open(request, signal);
      return { status: response.statusCode ?? 0, text: await wholeText(response, address, clock) };
    },
  };
}

/** Of an answer that has begun; one that falls silent is cut. */
export async function wholeText(response: IncomingMessage, address: string, clock: SilenceClock): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const silence = createSilence(clock, (cause) => response.destroy(cause));
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      silence.broken();
      size += chunk.length;
      if (size > ANSWER_MAX_BYTES) throw new Error(`the answer is larger than ${ANSWER_MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw connectionLost(address, cause);
  } finally {
    silence.end();
  }
  return Buffer.concat(chunks).toString("utf8");
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ReasonError("UsageInvalid", { detail: `${text} is not an address of the form http://HOST:PORT` });
  }
  if (url.protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) {
    throw new ReasonError("UsageInvalid", { detail: `${text}: a token goes to another machine over https only` });
  }
  return url;
}
