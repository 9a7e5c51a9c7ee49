/** Stands between a client and a server on Unix sockets, and cuts connections: all at once, or each after so many bytes of the server. */
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  readonly socketPath: string;
  /** Connections that were cut so far. */
  readonly cuts: number;
  cutAll(): void;
  close(): Promise<void>;
}

/** `bytes` is asked for each connection; undefined: it is left alone. */
export async function startCuttingProxy(
  target: string,
  bytes: (connection: number) => number | undefined = () => undefined,
): Promise<CuttingProxy> {
  const socketPath = `${target}.proxy`;
  const open = new Set<Socket>();
  let connections = 0;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(target);
    let left = bytes(connections++);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
    };
    open.add(client);
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (chunk) => void upstream.write(chunk));
    upstream.on("data", (chunk: Buffer) => {
      if (left === undefined || chunk.length < left) {
        if (left !== undefined) left -= chunk.length;
        client.write(chunk);
        return;
      }
      cuts += 1;
      // What was sent before still arrives: the cut is in the middle of whatever stands there.
      client.end(chunk.subarray(0, left), () => upstream.destroy());
    });
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  function cutAll(): void {
    for (const client of open) {
      cuts += 1;
      client.destroy();
    }
  }
  return {
    socketPath,
    get cuts() {
      return cuts;
    },
    cutAll,
    async close() {
      cutAll();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      rmSync(socketPath, { force: true });
    },
  };
}
