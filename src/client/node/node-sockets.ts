/** Web sockets on a Unix socket or a TCP port. */
import WebSocket from "ws";
import type { ServerAddress } from "../http-wire.ts";
import { FRAME_MAX_BYTES, type SocketPort } from "../socket-port.ts";

/** Of a refused upgrade. */
const REFUSAL_MAX_CHARS = 64 * 1024;

export function nodeSockets(server: ServerAddress): SocketPort {
  const base = "socket" in server ? `ws+unix:${server.socket}:` : server.url.replace(/^http/, "ws");
  return {
    isOpaque: false,
    open(path, token, { onOpen, onMessage, onBeat, onRefused, onEnd }) {
      const socket = new WebSocket(`${base}${path}`, {
        headers: { "x-harness-token": token, ...("socket" in server ? { host: "localhost" } : {}) },
        maxPayload: FRAME_MAX_BYTES,
        perMessageDeflate: false,
      });
      socket.on("open", onOpen);
      socket.on("message", (data: Buffer) => onMessage(data.toString("utf8"), data.length));
      socket.on("ping", onBeat);
      socket.on("error", onEnd);
      socket.on("close", (code, reason) => onEnd(new Error(`closed with ${code} ${reason.toString("utf8")}`.trim())));
      socket.on("unexpected-response", (_request, response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          if (text.length < REFUSAL_MAX_CHARS) text += chunk;
        });
        response.on("close", () => onRefused(response.statusCode ?? 0, text));
      });
      return {
        isOpen: () => socket.readyState === socket.OPEN,
        send: (text) => socket.send(text),
        cut: () => socket.terminate(),
      };
    },
  };
}
