/** A server on a real Unix socket that shakes hands as it should and does what a test says with the rest. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { buildHandshake } from "#protocol/schemas";

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export async function startScriptedServer(
  handle: Handle,
  isGreeting = true,
): Promise<{ readonly socket: string; readonly server: Server }> {
  const folder = mkdtempSync(join(tmpdir(), "harness-bad-"));
  const socket = join(folder, "c.sock");
  const server = createServer((request, response) => {
    if (isGreeting && request.url?.startsWith("/v1/handshake")) response.end(JSON.stringify(buildHandshake(["rest"])));
    else handle(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
    rmSync(folder, { recursive: true, force: true });
  });
  return { socket, server };
}

/** Web sockets of that server: hands are shaken on each, then `onStream` has those that want the events of a session. */
export function serveWebSockets(server: Server, onStream: (webSocket: WebSocket) => void): void {
  const sockets = new WebSocketServer({ server, path: "/v1/ws" });
  onTestFinished(() => {
    for (const webSocket of sockets.clients) webSocket.terminate();
    sockets.close();
  });
  sockets.on("connection", (webSocket, { url = "" }) => {
    webSocket.once("message", (text: Buffer) => {
      const { id } = JSON.parse(text.toString()) as { id: number };
      webSocket.send(JSON.stringify({ frame: "handshake", id, body: buildHandshake(["ws"]) }));
      if (url.includes("session=")) onStream(webSocket);
    });
  });
}
