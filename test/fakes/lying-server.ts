/** A proxy in front of a server that conforms, which tells one lie: what a conformance run must find out. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface Lie {
  /** Changes the request before it goes on; what it returns is answered instead. */
  readonly onRequest?: (asked: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body: Buffer;
  }) => { readonly status: number; readonly body: unknown } | undefined;
  /** Changes each frame of an event stream; undefined drops it. An array sends several. */
  readonly onFrame?: (frame: string, count: number) => readonly string[];
  /** Changes the body of an answer. */
  readonly onAnswer?: (path: string, body: string) => string;
}

/** Where it listens. `behind` is the socket of the server that conforms. */
export async function startLyingServer(behind: string, lie: Lie): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "harness-liar-"));
  const path = join(folder, "c.sock");
  const server = createServer((asked, response) => {
    void forward(behind, lie, asked, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(path, () => resolve()));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });
  return path;
}

async function forward(behind: string, lie: Lie, asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of asked as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method = "", url = "" } = asked;
  // Node joins what comes twice, except cookies, which nobody sends here.
  const headers = { ...asked.headers } as Record<string, string>;
  const body = Buffer.concat(chunks);
  const instead = lie.onRequest?.({ method, path: url, headers, body });
  if (instead !== undefined) {
    response.writeHead(instead.status, { "content-type": "application/json" }).end(JSON.stringify(instead.body));
    return;
  }
  const onward = request({ socketPath: behind, method, path: url, headers, agent: false });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  onward.on("response", (answer) => {
    if (String(answer.headers["content-type"]).startsWith("text/event-stream")) relayFrames(lie, answer, response);
    else void relayAnswer(lie, url, answer, response);
  });
  onward.end(body);
}

function relayFrames({ onFrame = (frame) => [frame] }: Lie, answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 0, answer.headers);
  response.flushHeaders();
  let rest = "";
  let count = 0;
  answer.setEncoding("utf8").on("data", (chunk: string) => {
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      count += 1;
      for (const told of onFrame(frame, count)) response.write(`${told}\n\n`);
    }
  });
  answer.on("close", () => response.end());
}

async function relayAnswer(lie: Lie, path: string, answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  const { "content-length": _, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 0, headers).end(lie.onAnswer?.(path, body) ?? body);
}
