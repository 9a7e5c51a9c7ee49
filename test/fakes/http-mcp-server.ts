/** A web handler as a server on loopback, for MCP servers on the network; it ends with the test. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";

export interface LoopbackServer {
  readonly origin: string;
  readonly seen: IncomingMessage[];
}

export async function serveOnLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<LoopbackServer> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    void handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on TCP.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Answers a request of Node with a web handler. */
export async function answerWith(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const answer = await handle(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method ?? "GET",
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
}
