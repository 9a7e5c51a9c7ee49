import type { IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { reasonOf } from "../../test/fakes/effect-reason.ts";
import { startLoopbackServer } from "../../test/fakes/loopback-server.ts";
import { createSelfSignedCertificate } from "../../test/fakes/self-signed-certificate.ts";
import type { WebRequest, WebResponse } from "../base/ports.ts";
import { createPublicWeb, type PublicWebOptions } from "./public-web.ts";

const NEVER = new AbortController().signal;

function get(url: string, options: PublicWebOptions = {}, request: Partial<WebRequest> = {}): Promise<WebResponse> {
  return createPublicWeb(options).get({ url, maxBytes: 1_000_000, timeoutMs: 10_000, ...request }, NEVER);
}

const local = (url: string, request: Partial<WebRequest> = {}) => get(url, { allowPrivateHosts: true }, request);

/** Resolves every name to the given addresses and remembers what it was asked. */
function resolver(...addresses: string[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    return addresses.map((address) => ({ address, family: address.includes(":") ? (6 as const) : (4 as const) }));
  };
  return { asked, resolve };
}

describe("refused addresses", () => {
  test.each([
    "127.0.0.1",
    "127.255.255.254",
    "127.1",
    "127.0.1",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.0.0.1.",
    "１２７.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "0xc0a80101",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::8.8.8.8]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[100::1]",
    "[5f00::1]",
    "[4000::1]",
  ])("http://%s/ is not connected to", async (host) => {
    expect(await reasonOf(get(`http://${host}/`))).toBe("AddressRefused");
  });

  test.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["169.254.169.254"]],
    [["8.8.8.8", "10.0.0.1"]],
    [["2606:4700::1111", "fd00::1"]],
    [["::ffff:192.168.0.1"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
    [Array.from({ length: 65 }, (_, index) => `8.8.4.${index}`)],
  ])("a name that resolves to %j is refused", async (addresses) => {
    const { resolve, asked } = resolver(...addresses);
    expect(await reasonOf(get("http://rebind.test/", { resolve }))).toBe("AddressRefused");
    expect(asked).toEqual(["rebind.test"]);
  });

  test("the system's own resolver is asked by default, and its answer is checked", async () => {
    expect(await reasonOf(get("http://localhost/"))).toBe("AddressRefused");
  });

  test("a name without addresses cannot be reached", async () => {
    expect(await reasonOf(get("http://nobody.test/", { resolve: async () => [] }))).toBe("NetworkFailed");
  });
});

test.each([
  "not a url",
  "ftp://example.com/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "data:text/plain,x",
  "http://user:secret@example.com/",
  "http://user@example.com/",
  "http://exa\0mple.com/",
  "http://[fe80::1%25eth0]/",
  "http://",
  `http://example.com/${"x".repeat(9_000)}`,
])("%j is no URL to fetch", async (url) => {
  expect(await reasonOf(get(url))).toBe("InvalidUrl");
});

describe("a request", () => {
  test("goes to the checked address with the name kept, resolved exactly once", async () => {
    const { port } = await startLoopbackServer((request, response) => response.end(request.headers.host));
    const { resolve, asked } = resolver("127.0.0.1");
    const response = await get(`http://pinned.test:${port}/a?b#c`, { resolve, allowPrivateHosts: true });
    expect({ ...response, body: String(response.body) }).toEqual({
      status: 200,
      url: `http://pinned.test:${port}/a?b`,
      headers: expect.any(Object),
      contentType: "",
      body: `pinned.test:${port}`,
      truncated: false,
    });
    expect(asked).toEqual(["pinned.test"]);
  });

  test("over TLS keeps the server name and checks the certificate against it", async () => {
    const certificate = createSelfSignedCertificate("secure.test");
    const { port } = await startLoopbackServer((_request, response) => response.end("secret handshake"), certificate);
    const options = {
      allowPrivateHosts: true,
      certificateAuthorities: [certificate.cert],
      resolve: resolver("127.0.0.1").resolve,
    };
    expect(String((await get(`https://secure.test:${port}/`, options)).body)).toBe("secret handshake");
    expect(await reasonOf(get(`https://other.test:${port}/`, options))).toBe("NetworkFailed");
    const untrusting = { allowPrivateHosts: true, resolve: options.resolve };
    expect(await reasonOf(get(`https://secure.test:${port}/`, untrusting))).toBe("NetworkFailed");
  });

  test("carries no credential and no header that steers it, whatever the caller says", async () => {
    let seen: IncomingHttpHeaders = {};
    const { url, port } = await startLoopbackServer((request, response) => {
      seen = request.headers;
      response.end();
    });
    await local(url, {
      headers: {
        Authorization: "Bearer x",
        Cookie: "a=b",
        "PROXY-authorization": "Basic x",
        "X-Harness-Token": "x",
        Host: "evil.test",
        "Transfer-Encoding": "chunked",
        Connection: "upgrade",
        Accept: "text/plain",
        "X-Custom": "kept",
      },
    });
    expect(seen).toEqual({
      host: `127.0.0.1:${port}`,
      accept: "text/plain",
      "accept-encoding": "gzip, br, deflate",
      "user-agent": "harness",
      "x-custom": "kept",
      connection: "close",
    });
  });

  test("tells status and type of any answer", async () => {
    const { url } = await startLoopbackServer((_request, response) => {
      response.writeHead(404, { "content-type": "text/plain" }).end("gone");
    });
    const { status, contentType, body } = await local(url);
    expect({ status, contentType, body: String(body) }).toEqual({
      status: 404,
      contentType: "text/plain",
      body: "gone",
    });
  });
});

describe("redirects", () => {
  test("are followed, relative ones too, five at most", async () => {
    const { url } = await startLoopbackServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end("moved");
      else response.end("there");
    });
    const response = await local(`${url}/5`);
    expect({ url: response.url, body: String(response.body) }).toEqual({ url: `${url}/0`, body: "there" });
    expect(await reasonOf(local(`${url}/6`))).toBe("TooManyRedirects");
  });

  test("to another host are not followed, also when that host may be reached: it is a decision of its own", async () => {
    let reached = 0;
    const { port } = await startLoopbackServer((request, response) => {
      if (request.url === "/other") reached++;
      response.writeHead(302, { location: `http://other.test:${port}/other` }).end();
    });
    const options = { resolve: resolver("127.0.0.1").resolve, allowPrivateHosts: true };
    const refused = get(`http://public.test:${port}/`, options);
    await expect(refused).rejects.toMatchObject({
      reason: "AddressRefused",
      message: expect.stringContaining("other.test"),
    });
    expect(reached).toBe(0);
  });

  test.each([301, 302, 303, 307, 308])(
    "of status %i is checked again: a private address is refused",
    async (status) => {
      let reached = 0;
      const { port } = await startLoopbackServer((request, response) => {
        if (request.url === "/secret") reached++;
        response.writeHead(status, { location: `http://internal.test:${port}/secret` }).end();
      });
      const options = { resolve: resolver("127.0.0.1").resolve, allowPrivateHosts: ["public.test"] };
      expect(await reasonOf(get(`http://public.test:${port}/`, options))).toBe("AddressRefused");
      expect(reached).toBe(0);
    },
  );

  test.each(["http://127.0.0.1/", "http://[::1]/", "http://0x7f.1/", "//169.254.169.254/latest/meta-data/"])(
    "to %s are refused",
    async (location) => {
      const { port } = await startLoopbackServer((_request, response) => response.writeHead(302, { location }).end());
      const options = { resolve: resolver("127.0.0.1").resolve, allowPrivateHosts: ["public.test"] };
      expect(await reasonOf(get(`http://public.test:${port}/`, options))).toBe("AddressRefused");
    },
  );

  test.each(["file:///etc/passwd", "http://user:pw@127.0.0.1/", "http://[broken"])(
    "to %s are no URL",
    async (location) => {
      const { url } = await startLoopbackServer((_request, response) => response.writeHead(302, { location }).end());
      expect(await reasonOf(local(url))).toBe("InvalidUrl");
    },
  );

  test("from https to http are refused, to https they are followed", async () => {
    const certificate = createSelfSignedCertificate("secure.test");
    const plain = await startLoopbackServer((_request, response) => response.end("plain"));
    const secure = await startLoopbackServer((request, response) => {
      if (request.url === "/end") response.end("secure");
      else
        response
          .writeHead(302, { location: request.url === "/down" ? `http://secure.test:${plain.port}/` : "/end" })
          .end();
    }, certificate);
    const options = {
      allowPrivateHosts: true,
      certificateAuthorities: [certificate.cert],
      resolve: resolver("127.0.0.1").resolve,
    };
    expect(String((await get(`https://secure.test:${secure.port}/on`, options)).body)).toBe("secure");
    expect(await reasonOf(get(`https://secure.test:${secure.port}/down`, options))).toBe("AddressRefused");
  });
});

describe("limits", () => {
  test("a server that never answers, or never ends, runs into the time limit", async () => {
    const { url } = await startLoopbackServer((request, response) => {
      if (request.url === "/body") response.writeHead(200).write("begun");
    });
    expect(await reasonOf(local(`${url}/silent`, { timeoutMs: 100 }))).toBe("Timeout");
    expect(await reasonOf(local(`${url}/body`, { timeoutMs: 100 }))).toBe("Timeout");
  });

  test("a resolver that never answers does too", async () => {
    const resolve = () => new Promise<never>(() => undefined);
    expect(await reasonOf(get("http://slow.test/", { resolve }, { timeoutMs: 50 }))).toBe("Timeout");
  });

  test("a cancel is told as such, before and during the request", async () => {
    const stop = new AbortController();
    const { url } = await startLoopbackServer(() => stop.abort());
    const web = createPublicWeb({ allowPrivateHosts: true });
    const request = { url, maxBytes: 10, timeoutMs: 10_000 };
    expect(await reasonOf(web.get(request, stop.signal))).toBe("Cancelled");
    expect(await reasonOf(web.get(request, stop.signal))).toBe("Cancelled");
  });

  test("headers that are too large are refused", async () => {
    const { url } = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "x-large": "x".repeat(20_000) }).end();
    });
    await expect(local(url)).rejects.toMatchObject({
      reason: "NetworkFailed",
      message: expect.stringContaining("headers"),
    });
  });

  test("what is no HTTP, and a closed port, is a network failure", async () => {
    const server = createServer((socket) => socket.resume().end("SSH-2.0-nonsense\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A server that listens on TCP has an address object.
    const { port } = server.address() as AddressInfo;
    onTestFinished(() => void server.close());
    expect(await reasonOf(local(`http://127.0.0.1:${port}/`))).toBe("NetworkFailed");
    await new Promise((resolve) => server.close(resolve));
    expect(await reasonOf(local(`http://127.0.0.1:${port}/`))).toBe("NetworkFailed");
  });
});
