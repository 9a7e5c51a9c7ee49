/** Requests to a server, however they get there: an answer that comes too late, falls silent or is too large is given up. */
import { ReasonError } from "#protocol";
import type { ClientClock } from "./client-host.ts";
import { connectionLost } from "./refusal.ts";
import { createSilence } from "./silence.ts";

/** Where a server listens. */
export type ServerAddress = { readonly socket: string } | { readonly url: string };

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface WireResponse {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends it, also while it is read. */
  cut(cause?: Error): void;
}

/** One server, as the host reaches it. */
export interface HttpPort {
  /** For messages. */
  readonly address: string;
  /** The response as it begins. Rejects with ServerUnreachable, ConnectionLost or the reason of the signal. */
  begin(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
}

export interface Wire {
  readonly address: string;
  /** Rejects with ServerUnreachable or ConnectionLost. Any status is an answer. */
  ask(request: WireRequest, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }>;
  /** The response as it begins. */
  open(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
}

/** An answer that is not a stream is no larger. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/** An answer that has not begun by then does not come: the server is there and does nothing. */
export const ANSWER_MAX_MS = 60_000;

export function createWire({ address, begin }: HttpPort, clock: ClientClock): Wire {
  async function open(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
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

  return {
    address,
    open,
    async ask(request, signal) {
      const response = await open(request, signal);
      return { status: response.status, text: await wholeText(response, address, clock) };
    },
  };
}

/** Of an answer that has begun; one that falls silent is cut. */
export async function wholeText(response: WireResponse, address: string, clock: ClientClock): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const silence = createSilence(clock, response.cut);
  try {
    for await (const chunk of response.body) {
      silence.broken();
      size += chunk.length;
      if (size > ANSWER_MAX_BYTES) throw new Error(`the answer is larger than ${ANSWER_MAX_BYTES} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (cause) {
    throw connectionLost(address, cause);
  } finally {
    silence.end();
  }
  return text + decoder.decode();
}

/** Throws UsageInvalid for what is no address, and for another machine without TLS. */
export function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ReasonError("UsageInvalid", `${text} is not an address of the form http://HOST:PORT`);
  }
  if (url.protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) {
    throw new ReasonError("UsageInvalid", `${text}: a token is sent to another machine only over https`);
  }
  return url;
}
