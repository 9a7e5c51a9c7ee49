/**
 * A vendor on a bare socket, which can do what an HTTP server would not: say half a status line, headers without an end, a reset.
 * Each request gets the fault that is set at the time.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export type WireFamilyName = "anthropic" | "openai";

/** Writes what the fault consists of; the socket belongs to it from then on. */
export type SocketFault = (socket: Socket, family: WireFamilyName) => void;

export interface FaultServer {
  readonly url: string;
  readonly port: number;
  /** Requests that came, and connections on which nothing is to be read. */
  readonly asked: number;
  readonly connections: number;
  /** `atConnect`: before a request has come. */
  set(fault: SocketFault, atConnect?: boolean): void;
  /** Resolves with the next request or, for a fault at connect, connection. */
  next(): Promise<void>;
  close(): Promise<void>;
}

export async function startFaultServer(): Promise<FaultServer> {
  const sockets = new Set<Socket>();
  let fault: SocketFault = (socket) => socket.destroy();
  let isAtConnect = false;
  let asked = 0;
  let waiting: (() => void)[] = [];
  const answer = (socket: Socket, family: WireFamilyName): void => {
    asked += 1;
    for (const resolve of waiting.splice(0)) resolve();
    fault(socket, family);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined); // the other side went away, which is what it should do
    if (isAtConnect) return answer(socket, "openai");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const whole = wholeRequest(text);
      if (whole === undefined) return;
      text = text.slice(whole.length);
      answer(socket, whole.includes("/messages") ? "anthropic" : "openai");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get asked() {
      return asked;
    },
    get connections() {
      return sockets.size;
    },
    set(next, atConnect = false) {
      fault = next;
      isAtConnect = atConnect;
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      waiting = [];
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The first request of a text, when all of it is there. Bodies have a length or are chunked. */
function wholeRequest(text: string): string | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const size = end + 4 + Number(length);
    return text.length < size ? undefined : text.slice(0, size);
  }
  if (!head.includes("\r\ntransfer-encoding: chunked")) return text.slice(0, end + 4);
  const last = text.indexOf("\r\n0\r\n\r\n", end);
  return last < 0 ? undefined : text.slice(0, last + 7);
}
