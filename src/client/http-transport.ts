/** REST for commands and reads, server-sent events for what happens. */

import { defined, isRecord } from "#base";
import {
  asCommand,
  type ClientId,
  type Command,
  type Event,
  type Handshake,
  PROTOCOL_VERSION,
  ReasonError,
  type SessionId,
} from "#protocol";
import { createEventStreamReader, type StreamEvent } from "#wire";
import type { ClientClock } from "./client-host.ts";
import { createWire, type HttpPort, type WireRequest, type WireResponse, wholeText } from "./http-wire.ts";
import { connectionLost, garbled, refusalFrom } from "./refusal.ts";
import { createSilence } from "./silence.ts";
import type { PresentedToken, Token } from "./token.ts";
import type { Transport } from "./transport.ts";
import {
  eventFrom,
  handshakeFrom,
  replyFrom,
  sessionIdFrom,
  sessionInfoFrom,
  slashCommandsFrom,
} from "./wire-shapes.ts";

/** One event on the stream is no larger. */
const FRAME_MAX_CHARS = 64 * 1024 * 1024;

export interface HttpTransportOptions {
  readonly http: HttpPort;
  readonly token: Token;
  readonly clock: ClientClock;
}

export function createHttpTransport({ http, token, clock }: HttpTransportOptions): Transport {
  const wire = createWire(http, clock);
  const { address } = wire;

  /** Which of the clients with the token this is, as the server said in the handshake. */
  let clientId: ClientId | undefined;

  function withToken(request: WireRequest, { text }: PresentedToken): WireRequest {
    const client = defined({ "x-harness-client": clientId });
    return { ...request, headers: { ...request.headers, "x-harness-token": text, ...client } };
  }

  async function askOnce(request: WireRequest, signal: AbortSignal): Promise<unknown> {
    const presented = await token.read();
    const { status, text } = await wire.ask(withToken(request, presented), signal);
    if (status >= 200 && status < 300) return text === "" ? {} : parse(text);
    const refusal = refusalOf(text, status);
    if (presented.refused(refusal)) return askOnce(request, signal);
    throw refusal;
  }

  /** A server that was started again does not know us; it has not begun with what it was asked. */
  async function ask(request: WireRequest, signal: AbortSignal): Promise<unknown> {
    return knownTo(signal, () => askOnce(request, signal));
  }

  async function knownTo<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ReasonError) || error.reason !== "HandshakeRequired") throw error;
      await shakeHands(signal);
      return work();
    }
  }

  async function shakeHands(signal: AbortSignal): Promise<Handshake> {
    const path = `/v1/handshake?protocol_version=${PROTOCOL_VERSION}`;
    const handshake = handshakeFrom(await askOnce({ method: "GET", path }, signal), address);
    clientId = handshake.client;
    return handshake;
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw garbled(address, cause);
    }
  }

  function refusalOf(text: string, status: number): ReasonError {
    const body: unknown = text.startsWith("{") ? parse(text) : undefined;
    return refusalFrom(isRecord(body) ? body.error : { message: `HTTP ${status}` }, address);
  }

  async function openStream(id: SessionId, since: number, signal: AbortSignal): Promise<WireResponse> {
    const headers = { "last-event-id": String(since) };
    const path = `/v1/sessions/${id}/events`;
    const presented = await token.read();
    const response = await wire.open(withToken({ method: "GET", path, headers }, presented), signal);
    if (response.status === 200) return response;
    const refusal = refusalOf(await wholeText(response, address, clock), response.status);
    if (presented.refused(refusal)) return openStream(id, since, signal);
    throw refusal;
  }

  async function* events(id: SessionId, since: number, signal: AbortSignal, onOpen: () => void): AsyncGenerator<Event> {
    const response = await knownTo(signal, () => openStream(id, since, signal));
    onOpen();
    const silence = createSilence(clock, response.cut);
    let frames: StreamEvent[] = [];
    const reader = createEventStreamReader({ maxEventChars: FRAME_MAX_CHARS, onEvent: (event) => frames.push(event) });
    const push = (text: string): void => {
      try {
        reader.push(text);
      } catch (cause) {
        throw garbled(address, cause);
      }
    };
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) {
        silence.broken();
        push(decoder.decode(chunk, { stream: true }));
        const complete = frames;
        frames = [];
        for (const { event, data } of complete) {
          if (event === "error") throw refusalFrom(parse(data), address);
          yield eventFrom(parse(data), address);
        }
      }
    } catch (cause) {
      if (signal.aborted) return;
      throw cause instanceof ReasonError ? cause : connectionLost(address, cause);
    } finally {
      silence.end();
      response.cut();
    }
  }

  return {
    address,
    clientId: () => clientId,
    tokenMayChange: token.mayChange,
    shakeHands,
    events,
    async submit(command, signal) {
      const answer = await ask(requestFor(asCommand(command)), signal);
      // A new session is answered with what it is.
      const reply = command.kind === "CreateSession" ? { session: sessionIdFrom(answer, address) } : answer;
      return replyFrom(command.kind, reply, address);
    },
    async sessions({ workingDir, limit }, signal) {
      const query = new URLSearchParams({
        ...defined({ working_dir: workingDir }),
        ...(limit === undefined ? {} : { limit: String(limit) }),
      });
      const answer = await ask({ method: "GET", path: `/v1/sessions?${query}` }, signal);
      const list = isRecord(answer) && Array.isArray(answer.sessions) ? (answer.sessions as unknown[]) : [];
      return list.map((one) => sessionInfoFrom(one, address));
    },
    async slashCommands(session, signal) {
      const query = session === undefined ? "" : `?session=${session}`;
      const answer = await ask({ method: "GET", path: `/v1/slash-commands${query}` }, signal);
      return slashCommandsFrom(isRecord(answer) ? answer.slash_commands : undefined, address);
    },
    async session(id, signal) {
      return sessionInfoFrom(await ask({ method: "GET", path: `/v1/sessions/${id}?events=0` }, signal), address);
    },
    async log(id, { after, limit }, signal) {
      const path = `/v1/sessions/${id}/log?after=${after}&limit=${limit}`;
      const answer = await ask({ method: "GET", path }, signal);
      const list = isRecord(answer) && Array.isArray(answer.events) ? (answer.events as unknown[]) : [];
      return list.map((one) => eventFrom(one, address));
    },
    async close() {},
  };
}

function requestFor(command: Command): WireRequest {
  if (command.kind === "CreateSession") {
    const { kind: _, ...body } = command;
    return { method: "POST", path: "/v1/sessions", body };
  }
  const { session, ...body } = command;
  return { method: "POST", path: `/v1/sessions/${session}/commands`, body };
}
