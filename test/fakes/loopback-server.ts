/** A real HTTP or HTTPS server on 127.0.0.1 that lives as long as one test. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export async function startLoopbackServer(
  listener: RequestListener,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<{ readonly port: number; readonly url: string }> {
  const server: Server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  // A server that listens on TCP has an address object.
  const { port } = server.address() as AddressInfo;
  return { port, url: `${certificate ? "https" : "http"}://127.0.0.1:${port}` };
}
