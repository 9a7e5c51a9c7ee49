/** A plain HTTP client on a Unix socket or a port: requests, streams and raw bytes, each on a connection of its own. */

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { jsonIn } from "#base";
import type { HttpAsked, HttpReply } from "../driver.ts";
import { PIECE_MAX_BYTES } from "../intake.ts";

/** A host that is an IPv6 address has no brackets. */
export type HttpPlace =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | TlsPlace;

export interface TlsPlace {
  readonly kind: "tls";
  readonly host: string;
  readonly port: number;
  /** Who vouches for it, as PEM; absent: those that the system knows. */
  readonly ca?: string;
}

/** What an answer may take in all, as often as it may take to begin. */
const ANSWER_WAITS = 4;

export function hostOf(place: HttpPlace): string {
  if (place.kind === "unix") return "localhost";
  return `${place.host.includes(":") ? `[${place.host}]` : place.host}:${place.port}`;
}

/** The response with its body still to come. Rejects when the connection fails or nothing comes for `waitMs`. */
export function openResponse(
  place: HttpPlace,
  waitMs: number,
  method: string,
  path: string,
  { body, headers = {}, token }: HttpAsked,
): Promise<IncomingMessage> {
  const bytes = bodyBytes(body);
  const where = place.kind === "unix" ? { socketPath: place.path } : { host: place.host, port: place.port };
  return new Promise((resolve, reject) => {
    const send = place.kind === "tls" ? httpsRequest : httpRequest;
    const request = send({
      ...where,
      ...(place.kind === "tls" && place.ca !== undefined ? { ca: place.ca } : {}),
      method,
      path,
      agent: false,
      headers: {
        host: hostOf(place),
        ...(token === undefined || token === null ? {} : { "x-harness-token": token }),
        ...(bytes === undefined ? {} : { "content-length": bytes.length }),
        ...headers,
      },
    });
    request.setTimeout(waitMs, () => request.destroy(new Error(`no answer to ${method} ${path} within ${waitMs} ms`)));
    request.on("response", (response) => {
      request.setTimeout(0);
      resolve(response);
    });
    request.on("error", reject);
    request.end(bytes);
  });
}

export async function ask(
  place: HttpPlace,
  waitMs: number,
  method: string,
  path: string,
  asked: HttpAsked,
): Promise<HttpReply> {
  const response = await openResponse(place, waitMs, method, path, asked);
  const cut = (): void => void response.destroy(new Error(`the answer to ${method} ${path} is incomplete`));
  response.setTimeout(waitMs, cut);
  const late = setTimeout(cut, ANSWER_WAITS * waitMs);
  const text = await textOf(response).finally(() => clearTimeout(late));
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: jsonIn(text) };
}

export async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Without an encoding, a response gives buffers.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > PIECE_MAX_BYTES) throw new Error(`an answer of more than ${PIECE_MAX_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Lines of a request as they are, without TLS also where that is spoken; what came back until the server closed the connection, or said
 * nothing for `waitMs`.
 */
export function exchange(place: HttpPlace, waitMs: number, head: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = place.kind === "unix" ? connect(place.path) : connect(place.port, place.host);
    let text = "";
    socket.setEncoding("utf8").setTimeout(waitMs, () => socket.destroy());
    socket.on("data", (chunk: string) => {
      if (text.length < PIECE_MAX_BYTES) text += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write(`${[...head, "", ""].join("\r\n")}`);
  });
}

function bodyBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
