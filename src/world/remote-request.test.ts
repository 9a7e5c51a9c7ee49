import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isPrivateByName, type RemoteRequest, sendToAddress } from "./remote-request.ts";

const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];

function request(url: string, headTimeoutMs = 10_000): RemoteRequest {
  return { url: new URL(url), method: "GET", headers: {}, signal: new AbortController().signal, headTimeoutMs };
}

test("a name that belongs to a private address is refused unless the caller allows it; silence is a timeout", async () => {
  const server = createServer((incoming, response) => {
    if (incoming.url === "/") response.end(incoming.headers.host);
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  const url = `http://server.example:${port}/`;
  await expect(sendToAddress(request(url), { resolve })).rejects.toMatchObject({ reason: "AddressRefused" });
  const answer = await sendToAddress(request(url), { resolve, mayBePrivate: () => true });
  expect(Buffer.concat(await answer.toArray()).toString()).toBe(`server.example:${port}`);
  const silent = sendToAddress(request(`${url}silent`, 50), { resolve, mayBePrivate: () => true });
  await expect(silent).rejects.toMatchObject({ reason: "Timeout" });
});

test("only what is written as an address or as localhost is private by its name", () => {
  const named = ["http://127.0.0.1/", "http://[::1]:80/", "http://localhost:1/", "http://10.1.2.3/"];
  const others = ["https://localhost.example.com/", "https://intranet/", "https://127.0.0.1.nip.io/"];
  expect(named.map((url) => isPrivateByName(new URL(url)))).toEqual([true, true, true, true]);
  expect(others.map((url) => isPrivateByName(new URL(url)))).toEqual([false, false, false]);
});
