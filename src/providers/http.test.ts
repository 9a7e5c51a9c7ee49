import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createHttpClient, type HttpClient, type HttpOutcome, type HttpRequest } from "./http.ts";

const clock = createManualClock();
const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    if (server.listening) await once(server, "close");
  }
});

async function serve(handler: (response: ServerResponse, count: number) => void): Promise<URL> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    handler(response, count);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function request(url: URL, rest: Partial<HttpRequest> = {}): HttpRequest {
  return {
    peer: "vendor",
    url,
    method: "POST",
    headers: {},
    body: "{}",
    signal: new AbortController().signal,
    headersTimeoutMs: 1_000,
    firstTokenTimeoutMs: 1_000,
    chunkTimeoutMs: 500,
    maxResponseBytes: 1_000,
    ...rest,
  };
}

async function read(client: HttpClient, spec: HttpRequest): Promise<{ text: string; outcome: HttpOutcome }> {
  let text = "";
  const outcome = await client.send(spec, () => (chunk) => {
    text += chunk;
    return "flowing";
  });
  return { text, outcome };
}

describe("a response", () => {
  test("comes with status and headers, its text decoded across chunks", async () => {
    const url = await serve((response) => {
      const bytes = Buffer.from("grün 🌍");
      response.setHeader("x-request", "1");
      response.write(bytes.subarray(0, 3), () => response.end(bytes.subarray(3)));
    });
    const { text, outcome } = await read(createHttpClient({ clock }), request(url));
    expect(text).toBe("grün 🌍");
    expect(outcome).toMatchObject({ type: "ok", status: 200, headers: { "x-request": "1" } });
  });

  test("that its reader has enough of does not have to end, and leaves the connection usable when it does", async () => {
    const open: ServerResponse[] = [];
    const url = await serve((response) => {
      open.push(response);
      response.write("enough");
    });
    const client = createHttpClient({ clock });
    const outcome = await client.send(request(url), () => () => "complete");
    expect(outcome).toMatchObject({ type: "ok", status: 200 });
    open[0]?.end("rest");
    client.close();
  });

  test("of status 400 and above is a response", async () => {
    const url = await serve((response) => response.writeHead(503).end("later"));
    expect(await read(createHttpClient({ clock }), request(url))).toMatchObject({
      text: "later",
      outcome: { type: "ok", status: 503 },
    });
  });
});

describe("a failure", () => {
  test("redirects are refused, the other address is never asked", async () => {
    let asked = 0;
    const other = await serve((response) => {
      asked += 1;
      response.end();
    });
    const url = await serve((response) => response.writeHead(307, { location: other.href }).end());
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    expect(outcome).toMatchObject({ type: "failed", reason: "ProviderRefused", retryable: false });
    expect(asked).toBe(0);
  });

  test("nobody listens", async () => {
    const url = await serve(() => {});
    for (const server of servers.splice(0)) server.close();
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    expect(outcome).toEqual({
      type: "failed",
      reason: "ProviderUnreachable",
      message: `Cannot reach vendor at ${url.host}: ECONNREFUSED.`,
      retryable: true,
    });
  });

  test("no response head in time", async () => {
    const asked = Promise.withResolvers<void>();
    const url = await serve(() => asked.resolve());
    const pending = read(createHttpClient({ clock }), request(url));
    await asked.promise;
    await clock.advance(1_000);
    expect((await pending).outcome).toEqual({
      type: "failed",
      reason: "ProviderTimeout",
      message: "vendor did not answer in time: no response headers within 1 s (timeouts.headers_s).",
      retryable: true,
    });
  });

  test("silence in the middle of a body; each chunk starts the time anew", async () => {
    const open = Promise.withResolvers<ServerResponse>();
    const url = await serve((response) => open.resolve(response));
    const chunks: (() => void)[] = [];
    const outcome = createHttpClient({ clock }).send(request(url), () => () => {
      chunks.shift()?.();
      return "flowing";
    });
    const response = await open.promise;
    const sendChunk = (text: string): Promise<void> =>
      new Promise((resolve) => {
        chunks.push(resolve);
        response.write(text);
      });
    await sendChunk("a");
    await clock.advance(400);
    await sendChunk("b");
    await clock.advance(400);
    await sendChunk("c");
    let over = false;
    void outcome.then(() => {
      over = true;
    });
    await clock.advance(499);
    expect(over).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ type: "failed", reason: "ProviderTimeout", retryable: true });
  });

  test("no first token in time, however many bytes come that are none", async () => {
    const open = Promise.withResolvers<ServerResponse>();
    const url = await serve((response) => {
      response.flushHeaders();
      open.resolve(response);
    });
    const heard: (() => void)[] = [];
    const limits = { headersTimeoutMs: 1_000, firstTokenTimeoutMs: 2_000, chunkTimeoutMs: 500 };
    const outcome = createHttpClient({ clock }).send(request(url, limits), () => () => {
      heard.shift()?.();
      return "waiting";
    });
    const response = await open.promise;
    for (let at = 0; at < 4; at += 1) {
      const arrived = new Promise<void>((resolve) => heard.push(resolve));
      response.write(": ping\n\n");
      await arrived;
      await clock.advance(499);
    }
    await clock.advance(4);
    expect(await outcome).toMatchObject({
      type: "failed",
      reason: "ProviderTimeout",
      message: "vendor did not answer in time: no first token within 2 s (timeouts.first_token_s).",
    });
  });

  test("what follows a whole answer is waited for briefly, and pings do not prolong it", async () => {
    const url = await serve((response) => response.write("all"));
    const whole = Promise.withResolvers<void>();
    const outcome = createHttpClient({ clock }).send(request(url, { chunkTimeoutMs: 60_000 }), () => () => {
      whole.resolve();
      return "ending";
    });
    await whole.promise;
    await clock.advance(5_000);
    expect(await outcome).toMatchObject({ type: "failed", reason: "ProviderTimeout" });
  });

  test("a process with the keys that does not answer is under the limit of the headers", async () => {
    const credentials = { route: () => new Promise<never>(() => undefined) };
    const credential = { id: "k", source: "KEY", hosts: [] };
    const client = createHttpClient({ clock, credentials });
    const url = new URL("http://127.0.0.1:9/");
    const pending = read(client, request(url, { credential }));
    await clock.advance(1_000);
    expect((await pending).outcome).toMatchObject({
      reason: "CredentialHelperFailed",
      message: expect.stringContaining("did not answer within 1 s"),
      retryable: true,
    });
    const cancel = new AbortController();
    const cancelled = read(client, request(url, { credential, signal: cancel.signal }));
    cancel.abort();
    expect((await cancelled).outcome).toMatchObject({ reason: "Cancelled" });
  });

  test.each([
    ["garbage", "\u0000\u0001not http at all\r\n\r\n"],
    ["headers without an end", `HTTP/1.1 200 OK\r\n${"x-more: y\r\n".repeat(5_000)}`],
  ])("%s instead of HTTP", async (_name, bytes) => {
    const server = createNetServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write(bytes));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    server.close();
    expect(outcome).toMatchObject({ reason: "ProviderGarbled", retryable: true });
  });

  test("the connection is cut in the middle of a body", async () => {
    const url = await serve((response) => response.write("half", () => response.destroy()));
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    expect(outcome).toMatchObject({ type: "failed", reason: "ProviderStreamCut", retryable: true });
  });

  test("a body shorter than it said", async () => {
    const url = await serve((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("short", () => response.destroy());
    });
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    expect(outcome).toMatchObject({ type: "failed", reason: "ProviderStreamCut" });
  });

  test("more bytes than allowed", async () => {
    const url = await serve((response) => response.end("x".repeat(1_001)));
    const { outcome } = await read(createHttpClient({ clock }), request(url));
    expect(outcome).toMatchObject({ type: "failed", reason: "OutputLimit", retryable: false });
  });

  test("cancelled: before, while waiting and in the middle; the connection is given up", async () => {
    const client = createHttpClient({ clock });
    const cancelled = { type: "failed", reason: "Cancelled", message: "The turn was cancelled.", retryable: false };
    const waiting = Promise.withResolvers<void>();
    const url = await serve((response, count) => {
      if (count === 1) waiting.resolve();
      else response.write("some");
    });
    expect((await read(client, request(url, { signal: AbortSignal.abort() }))).outcome).toEqual(cancelled);

    const first = new AbortController();
    const pending = read(client, request(url, { signal: first.signal }));
    await waiting.promise;
    first.abort();
    expect((await pending).outcome).toEqual(cancelled);

    const second = new AbortController();
    const outcome = await client.send(request(url, { signal: second.signal }), () => () => {
      second.abort();
      return "flowing";
    });
    expect(outcome).toEqual(cancelled);
  });

  test("a header that cannot be sent, without its value in the message", async () => {
    const url = await serve((response) => response.end());
    const { outcome } = await read(createHttpClient({ clock }), request(url, { headers: { "x-key": "se\ncret" } }));
    expect(outcome).toMatchObject({ type: "failed", reason: "ConfigInvalid", retryable: false });
    expect(JSON.stringify(outcome)).not.toContain("cret");
  });
});

test("a kept connection that the peer closed meanwhile is replaced, not reported", async () => {
  const url = await serve((response, count) => {
    if (count === 2) response.socket?.destroy();
    else response.end("fine");
  });
  const client = createHttpClient({ clock });
  expect(await read(client, request(url))).toMatchObject({ text: "fine" });
  // The response's connection goes back to the pool one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await read(client, request(url))).toMatchObject({ text: "fine", outcome: { type: "ok" } });
});
