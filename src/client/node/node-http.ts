/**
 * Requests on a Unix socket or a TCP port: one connection for each, so that what happened to one says nothing about another. A
 * request that was cut is told apart by whether the server can have seen it.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { type HttpPort, type ServerAddress, serverUrl, type WireResponse } from "../http-wire.ts";
import { connectionLost, unreachable } from "../refusal.ts";

export function createNodeHttp(server: ServerAddress): HttpPort {
  const address = "socket" in server ? `unix:${server.socket}` : server.url;
  const base = "url" in server ? serverUrl(server.url) : undefined;
  const where =
    "socket" in server
      ? { socketPath: server.socket, headers: { host: "localhost" } }
      : { host: base?.hostname.replace(/^\[|\]$/g, ""), port: base?.port || undefined, headers: {} };
  return {
    address,
    begin: ({ method, path, headers, body }, signal) =>
      new Promise<WireResponse>((resolve, reject) => {
        const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const send = base?.protocol === "https:" ? httpsRequest : httpRequest;
        const request = send({
          ...where,
          method,
          path: `${base?.pathname.replace(/\/$/, "") ?? ""}${path}`,
          agent: false,
          headers: {
            ...where.headers,
            ...headers,
            ...(text === undefined ? {} : { "content-type": "application/json", "content-length": text.length }),
          },
          signal,
        });
        let wasConnected = false;
        request.on("socket", (socket: Socket) => {
          socket.once("connect", () => {
            wasConnected = true;
          });
        });
        request.on("response", (response) => {
          const { statusCode: status = 0 } = response;
          resolve({ status, body: response, cut: (cause) => void response.destroy(cause) });
        });
        request.on("error", (cause) => {
          if (signal.aborted) reject(signal.reason as Error);
          else reject(wasConnected ? connectionLost(address, cause) : unreachable(address, cause));
        });
        request.end(text);
      }),
  };
}
