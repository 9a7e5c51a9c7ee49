/** The web sockets of a browser. They take no headers, so the token is offered as a subprotocol. */
import { socketProtocols } from "#protocol";
import { serverUrl } from "../http-wire.ts";
import type { SocketPort } from "../socket-port.ts";

export function webSockets(address: string): SocketPort {
  const base = serverUrl(address).href.replace(/^http/, "ws").replace(/\/$/, "");
  return {
    isOpaque: true,
    open(path, token, { onOpen, onMessage, onEnd }) {
      const socket = new WebSocket(`${base}${path}`, socketProtocols(token));
      socket.onopen = () => onOpen();
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") onMessage(data, data.length);
        else onEnd(new Error("a frame is not text"));
      };
      socket.onerror = () => onEnd(new Error("the connection failed"));
      socket.onclose = ({ code, reason }) => onEnd(new Error(`closed with ${code} ${reason}`.trim()));
      return {
        isOpen: () => socket.readyState === WebSocket.OPEN,
        send: (text) => socket.send(text),
        cut: () => socket.close(),
      };
    },
  };
}
