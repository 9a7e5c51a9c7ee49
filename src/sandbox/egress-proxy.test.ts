import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDomainList } from "#base";
import { createSystemClock } from "#world";
import { createSelfSignedCertificate } from "../../test/fakes/self-signed-certificate.ts";
import { type EgressProxyOptions, type EgressRecord, startEgressProxy } from "./egress-proxy.ts";

const ALLOWED = "127.0.0.2";

async function startProxy(
  record: (entry: EgressRecord) => Promise<void> = async () => undefined,
  options: Partial<EgressProxyOptions> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "harness-egress-"));
  const socket = join(folder, "egress.sock");
  const records: EgressRecord[] = [];
  const lookups: string[] = [];
  const proxy = await startEgressProxy({
    socket,
    domains: createDomainList([["allowed.test", "rebind.test", ALLOWED]]),
    clock: createSystemClock(),
    async record(entry) {
      await record(entry);
      records.push(entry);
    },
    async resolve(name) {
      lookups.push(name);
      return [{ address: name === "rebind.test" ? "127.0.0.1" : ALLOWED, family: 4 }];
    },
    ...options,
  });
  onTestFinished(async () => {
    await proxy.close();
    rmSync(folder, { recursive: true });
  });
  return { socket, records, lookups };
}

async function startWeb() {
  const seen: (string | undefined)[] = [];
  const server = createServer((incoming, response) => {
    seen.push(incoming.headers.host);
    response.end(`${incoming.method} ${incoming.url}`);
  }).listen(0, ALLOWED);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, seen };
}

/** One request to the proxy with this target, as it stands. */
async function ask(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const outgoing = request({ socketPath, path, headers, agent: false });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}

async function tunnel(socketPath: string, authority: string) {
  const outgoing = request({ socketPath, method: "CONNECT", path: authority, agent: false });
  outgoing.end();
  const [response, socket, head] = await once(outgoing, "connect");
  if (head.length > 0) socket.unshift(head);
  return { status: response.statusCode as number, why: response.statusMessage as string, socket };
}

describe("a plain request", () => {
  test("goes to the listed host, whatever its Host header says, and is on the record", async () => {
    const { port, seen } = await startWeb();
    const { socket, records, lookups } = await startProxy();
    const answer = await ask(socket, `http://allowed.test:${port}/a?b`, { host: "elsewhere.test" });
    expect(answer).toEqual({ status: 200, body: "GET /a?b" });
    expect(seen).toEqual([`allowed.test:${port}`]);
    expect(lookups).toEqual(["allowed.test"]);
    await expect.poll(() => records.length).toBe(2);
    const common = { connection: 1, host: "allowed.test", port };
    expect(records).toEqual([
      { ...common, state: "opened" },
      {
        ...common,
        state: "closed",
        bytesSent: expect.any(Number),
        bytesReceived: expect.any(Number),
        durationMs: expect.any(Number),
      },
    ]);
    expect(records[1]?.bytesReceived).toBeGreaterThan(0);
  });

  test("with an offer of HTTP/2 is answered as it is; another upgrade is refused", async () => {
    const { port } = await startWeb();
    const { socket } = await startProxy();
    const offer = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABk" };
    expect(await ask(socket, `http://allowed.test:${port}/a`, offer)).toEqual({ status: 200, body: "GET /a" });
    const other = { connection: "Upgrade", upgrade: "websocket" };
    expect((await ask(socket, `http://allowed.test:${port}/a`, other)).status).toBe(501);
  });

  test.each([
    ["GET", "Transfer-Encoding: chunked", true],
    ["DELETE", "Transfer-Encoding: chunked", true],
    ["GET", "Connection: content-length", false],
    ["OPTIONS", "Connection: close, content-length", false],
    ["POST", "Connection: transfer-encoding\r\nTransfer-Encoding: chunked", true],
  ])("a %s with %j and a body carries no second request", async (method, header, isChunked) => {
    const taken: Buffer[] = [];
    const server = createTcpServer((connection) => {
      connection.on("data", (bytes) => {
        taken.push(Buffer.from(bytes));
        if (Buffer.concat(taken).includes("the end")) connection.end("HTTP/1.1 204 None\r\nConnection: close\r\n\r\n");
      });
    }).listen(0, ALLOWED);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { socket } = await startProxy();
    const inner = "GET / HTTP/1.1\r\nHost: elsewhere.test\r\n\r\nthe end";
    const body = isChunked ? `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n` : inner;
    const length = isChunked ? "" : `Content-Length: ${inner.length}\r\n`;
    const client = connect(socket);
    client.end(`${method} http://allowed.test:${port}/ HTTP/1.1\r\nHost: x\r\n${length}${header}\r\n\r\n${body}`);
    await once(client.resume(), "close");
    const [head = "", ...rest] = Buffer.concat(taken).toString("latin1").split("\r\n\r\n");
    const sent = rest.join("\r\n\r\n");
    const framing = /^content-length: (\d+)$/im.exec(head)?.[1];
    if (framing === undefined) {
      expect(head).toMatch(/^transfer-encoding: chunked$/im);
      expect(sent).toMatch(new RegExp(`^${inner.length.toString(16)}\r\n`));
    } else expect(Number(framing)).toBe(inner.length);
  });

  test.each([
    ["http://other.test/", 403, "host other.test is not in allowed_domains"],
    ["http://rebind.test/", 403, "rebind.test is at 127.0.0.1, which is not a public internet address"],
    ["http://127.0.0.1/", 403, "not in allowed_domains"],
    ["http://0177.0.0.2:1/", 502, ""],
    ["https://allowed.test/", 400, "use CONNECT for https"],
    ["ftp://allowed.test/", 400, "does not forward ftp:"],
    ["http://user:key@allowed.test/", 400, "credentials"],
    ["/relative", 400, "absolute"],
  ])("for %s is refused with %i", async (target, status, text) => {
    const { socket } = await startProxy();
    const answer = await ask(socket, target);
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(text);
  });

  test("with two Host headers is refused", async () => {
    const { socket } = await startProxy();
    const client = connect(socket);
    client.end("GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nHost: other.test\r\n\r\n");
    const [chunk] = await once(client, "data");
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("that cannot be recorded does not go out", async () => {
    const { port, seen } = await startWeb();
    const { socket } = await startProxy(async () => {
      throw new Error("the log is full");
    });
    expect((await ask(socket, `http://allowed.test:${port}/`)).status).toBe(502);
    expect(seen).toEqual([]);
  });
});

describe("a tunnel", () => {
  test("carries TLS to the listed host", async () => {
    const { cert, key } = createSelfSignedCertificate("allowed.test");
    const server = createTlsServer({ cert, key }, (socket) => void socket.end("inside")).listen(0, ALLOWED);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { socket: path, records } = await startProxy();
    const { status, socket } = await tunnel(path, `allowed.test:${port}`);
    expect(status).toBe(200);
    const secure = connectTls({ socket, servername: "allowed.test", ca: cert });
    const [chunk] = await once(secure, "data");
    expect(String(chunk)).toBe("inside");
    secure.destroy();
    await expect.poll(() => records.map(({ state }) => state)).toEqual(["opened", "closed"]);
  });

  test.each([
    ["other.test:443", "host other.test is not in allowed_domains"],
    ["rebind.test:443", "rebind.test is at 127.0.0.1, which is not a public internet address"],
    ["127.1:443", "host 127.0.0.1 is not in allowed_domains"],
    ["[::ffff:127.0.0.1]:443", "host ::ffff:7f00:1 is not in allowed_domains"],
    ["169.254.169.254:80", "host 169.254.169.254 is not in allowed_domains"],
  ])("to %s is refused and recorded", async (authority, why) => {
    const { socket, records } = await startProxy();
    expect(await tunnel(socket, authority)).toMatchObject({ status: 403, why });
    expect(records).toMatchObject([{ state: "refused", why }]);
  });

  test.each(["allowed.test", "allowed.test:0", "allowed.test:99999", ":443"])(
    "to %s is no target",
    async (authority) => {
      const { socket } = await startProxy();
      expect((await tunnel(socket, authority)).status).toBe(400);
    },
  );

  test("for something other than TLS, or for another server, is cut before a byte gets out", async () => {
    let received = 0;
    const server = createServer().on("connection", (socket) =>
      socket.on("data", (chunk) => (received += chunk.length)),
    );
    server.listen(0, ALLOWED);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { socket: path, records } = await startProxy();
    const plain = await tunnel(path, `allowed.test:${port}`);
    plain.socket.write("GET / HTTP/1.1\r\n\r\n");
    await once(plain.socket.resume(), "close");
    const other = await tunnel(path, `allowed.test:${port}`);
    const secure = connectTls({ socket: other.socket, servername: "hidden.test" }).on("error", () => undefined);
    await new Promise<void>((resolve) => secure.once("close", () => resolve()));
    expect(received).toBe(0);
    expect(records.filter(({ state }) => state === "closed").map(({ why }) => why)).toEqual([
      "the tunnel does not carry TLS",
      "the tunnel is for another server, hidden.test",
    ]);
  });
});

const PUBLIC = "93.184.215.14";
const OWN = "93.184.215.15";

/** Every public host is allowed, and `public.test` is a server of the test in place of one on the internet. */
async function startOpenProxy(serve: (socket: Socket) => void) {
  const server = createTcpServer({ allowHalfOpen: true }, serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const dialled: string[] = [];
  const proxy = await startProxy(undefined, {
    domains: undefined,
    resolve: async (name) => {
      return [{ address: name === "public.test" ? PUBLIC : name === "own.test" ? OWN : "10.1.2.3", family: 4 }];
    },
    connect(options) {
      options.lookup?.(options.host ?? "", {}, (_error, address) => void dialled.push(String(address)));
      return connect(port, "127.0.0.1");
    },
    ownAddresses: () => [OWN, "2600::15"],
  });
  return { ...proxy, dialled };
}

describe("without a list", () => {
  test("a tunnel to a public host carries anything, also where the server speaks first", async () => {
    const {
      socket: path,
      records,
      dialled,
    } = await startOpenProxy((socket) => {
      socket.write("SSH-2.0-test\r\n");
      socket.once("data", (chunk) => socket.end(`got ${chunk}`));
    });
    const { status, socket } = await tunnel(path, "public.test:22");
    expect(status).toBe(200);
    expect(String((await once(socket, "data"))[0])).toBe("SSH-2.0-test\r\n");
    socket.write("hello");
    expect(String((await once(socket, "data"))[0])).toBe("got hello");
    expect(dialled).toEqual([PUBLIC]);
    await expect
      .poll(() => records.map(({ host, state }) => `${state} ${host}`))
      .toEqual(["opened public.test", "closed public.test"]);
  });

  test.each([
    ["private.test:22", "private.test is at 10.1.2.3, which is not a public internet address"],
    ["127.0.0.1:22", "127.0.0.1 is at 127.0.0.1, which is not a public internet address"],
    ["[::ffff:127.0.0.1]:22", "::ffff:7f00:1 is at ::ffff:7f00:1, which is not a public internet address"],
    ["169.254.169.254:80", "169.254.169.254 is at 169.254.169.254, which is not a public internet address"],
    ["168.63.129.16:80", "168.63.129.16 is at 168.63.129.16, which is not a public internet address"],
    ["own.test:22", `own.test resolves to ${OWN}, which is an address of this machine`],
    [`${OWN}:22`, `${OWN} resolves to ${OWN}, which is an address of this machine`],
    [`[::ffff:${OWN}]:22`, "::ffff:5db8:d70f resolves to ::ffff:5db8:d70f, which is an address of this machine"],
    ["[2600::15]:22", "2600::15 resolves to 2600::15, which is an address of this machine"],
  ])("a tunnel to %s is refused and recorded", async (authority, why) => {
    const { socket, records, dialled } = await startOpenProxy(() => undefined);
    expect(await tunnel(socket, authority)).toMatchObject({ status: 403, why });
    expect(records).toMatchObject([{ state: "refused", why }]);
    expect(dialled).toEqual([]);
  });

  test("a client that has gone meanwhile leaves no connection behind", async () => {
    const closed = Promise.withResolvers<void>();
    const { socket: path } = await startOpenProxy((socket) => void socket.resume().once("end", () => closed.resolve()));
    const outgoing = request({ socketPath: path, method: "CONNECT", path: "public.test:22", agent: false });
    outgoing.on("error", () => undefined).end();
    await once(outgoing, "finish");
    outgoing.destroy();
    await closed.promise;
  });
});

describe("SOCKS5", () => {
  /** Sends these bytes and collects what comes back until `length` bytes or the end. */
  async function say(path: string, message: readonly number[], length: number): Promise<number[]> {
    const client = connect(path);
    onTestFinished(() => void client.destroy());
    client.write(Buffer.from(message));
    const answer: number[] = [];
    for await (const chunk of client.iterator({ destroyOnReturn: false })) {
      answer.push(...chunk);
      if (answer.length >= length) break;
    }
    return answer;
  }
  const named = (name: string, port: number) => [3, name.length, ...Buffer.from(name), port >> 8, port & 255];

  test("carries what a program says, greeting and request in one piece", async () => {
    const { socket, records } = await startOpenProxy((inside) => void inside.end("hi"));
    const answer = await say(socket, [5, 1, 0, 5, 1, 0, ...named("public.test", 22)], 14);
    expect(answer).toEqual([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...Buffer.from("hi")]);
    expect(records[0]).toEqual({ connection: 1, host: "public.test", port: 22, state: "opened" });
  });

  test.each([
    ["a private host", named("private.test", 22), 2],
    ["an address of the machine", [1, ...OWN.split(".").map(Number), 0, 22], 2],
    ["loopback", [1, 127, 0, 0, 1, 0, 22], 2],
    ["IPv6 loopback", [4, ...Array(15).fill(0), 1, 0, 22], 2],
    ["a name that is none", named("a b", 22), 8],
    ["port 0", named("public.test", 0), 8],
  ])("refuses %s", async (_name, target, reply) => {
    const { socket, dialled } = await startOpenProxy(() => undefined);
    expect(await say(socket, [5, 1, 0, 5, 1, 0, ...target], 12)).toEqual([5, 0, 5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(dialled).toEqual([]);
  });

  test("refuses to listen, UDP and passwords", async () => {
    const { socket } = await startOpenProxy(() => undefined);
    for (const command of [2, 3]) {
      const answer = await say(socket, [5, 1, 0, 5, command, 0, ...named("public.test", 22)], 12);
      expect(answer.slice(2, 4)).toEqual([5, 7]);
    }
    expect(await say(socket, [5, 1, 2], 99)).toEqual([5, 0xff]);
  });

  test("with a list carries only TLS for the host that it named", async () => {
    const { port } = await startWeb();
    const { socket, records } = await startProxy();
    const hello = [...Buffer.from("GET / HTTP/1.1\r\n\r\n")];
    await say(socket, [5, 1, 0, 5, 1, 0, ...named("allowed.test", port), ...hello], 99);
    await expect.poll(() => records.at(-1)).toMatchObject({ state: "closed", why: "the tunnel does not carry TLS" });
    expect(records.at(-1)?.bytesSent).toBe(0);
  });
});
