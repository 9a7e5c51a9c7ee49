// @ts-check
/**
 * A plugin with a transport: one JSON value per line, over a Unix socket or a port of this machine. The first line of a peer is
 * {"token": "…"}, every other one is a command of the protocol. Replies are {"reply"}, events {"event"}, refusals {"error"}.
 *
 *   harness daemon run --listen lines+unix:/run/user/1000/harness-lines.sock
 */
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** @typedef {import("harness-runtime").TransportAddress} TransportAddress */

/** A peer that reads slower than this is cut off. */
const UNREAD_BYTES = 8 * 1024 * 1024;

/**
 * @param {import("harness-runtime").ServedEngine} engine
 * @param {TransportAddress} address
 * @param {import("node:net").Socket} socket
 */
async function serve(engine, address, socket) {
  /** @param {object} value */
  const send = (value) => {
    socket.write(`${JSON.stringify(value)}\n`);
    if (socket.writableLength > UNREAD_BYTES) socket.destroy();
  };
  /** @param {unknown} error */
  const refuse = (error) => {
    const { reason, message } = /** @type {{ reason?: string, message: string }} */ (error);
    send({ error: { reason, message } });
  };
  /** @type {import("harness-runtime").ServedClient | undefined} */
  let client;
  socket.on("error", () => socket.destroy());
  socket.on("close", () => client?.close());
  try {
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      const value = JSON.parse(line);
      if (client === undefined) {
        client = await engine.connect({
          token: String(value.token),
          address,
          source: socket.remoteAddress ?? "unix",
          onEvent: (event) => send({ event }),
          onEnd(refusal) {
            refuse(refusal);
            socket.end();
          },
        });
        send({ handshake: client.handshake });
      } else {
        await client.submit(value).then((reply) => send({ reply }), refuse);
      }
    }
  } catch (error) {
    refuse(error);
    socket.end();
  }
}

/** @type {import("harness-runtime").Plugin} */
export const plugin = {
  name: "lines-wire",
  register(host) {
    host.addTransport({
      name: "lines",
      async start(engine, listen) {
        const servers = listen.map((address) => createServer((socket) => void serve(engine, address, socket)));
        await Promise.all(
          servers.map((server, index) => {
            const address = listen[index];
            return new Promise((resolve, reject) => {
              server.once("error", reject);
              if (address?.kind === "unix") {
                server.listen(address.path, () => resolve(undefined));
                chmodSync(address.path, 0o600);
              } else server.listen(address?.port, address?.host, () => resolve(undefined));
            });
          }),
        );
        return {
          addresses: listen,
          stopAccepting() {
            for (const server of servers) server.close();
          },
          async close() {
            for (const server of servers) server.close();
          },
        };
      },
    });
  },
};
