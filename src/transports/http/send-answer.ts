/** Answers and refusals as bytes: on a response, and on a connection that has none. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ReasonError } from "#protocol";
import { failureBody, statusOf } from "./failure.ts";
import type { HttpLimits } from "./limits.ts";
import type { Answer } from "./route.ts";

/** A refused body that is smaller is read and thrown away, so that the connection can be used again. */
const DISCARD_BYTES = 64 * 1024;

export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer === "taken") return;
  if ("text" in answer) {
    response.writeHead(200, { "content-type": answer.type, "cache-control": "no-store" });
    return pipeline(answer.text, response);
  }
  const { status, body } = answer;
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "content-length": text.length,
  });
  response.end(text);
}

export function sendFailure(request: IncomingMessage, response: ServerResponse, error: ReasonError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isSmall = Number(request.headers["content-length"] ?? Number.NaN) <= DISCARD_BYTES;
  if (request.complete || isSmall || request.method === "GET") request.resume();
  else response.setHeader("connection", "close");
  void sendAnswer(response, { status: statusOf(error), body: failureBody(error) });
}

/** Where there is no response object: the bytes of one. */
export function refuseUpgrade(socket: Duplex, error: ReasonError): void {
  const body = JSON.stringify(failureBody(error));
  socket.end(
    `HTTP/1.1 ${statusOf(error)} ${error.reason}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

/** What Node could not make a request of. */
export function brokenRequest(cause: NodeJS.ErrnoException, limits: HttpLimits): ReasonError {
  switch (cause.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ReasonError("RequestTimeout", { seconds: limits.requestMs / 1000 }, { cause });
    case "HPE_HEADER_OVERFLOW":
      return new ReasonError("BodyTooLarge", { limit: limits.headerBytes }, { cause });
    default:
      return new ReasonError("InvalidCommand", "it is not HTTP", { cause });
  }
}
