import { once } from "node:events";
import { createServer } from "node:net";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { readClientHello } from "./client-hello.ts";

/** What a real client sends first. */
async function greeting(servername?: string): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const arrived = once(server, "connection").then(async ([socket]) => {
    const [chunk] = await once(socket, "data");
    socket.destroy();
    return chunk as Buffer;
  });
  const client = connect({ host: "127.0.0.1", port, ...(servername && { servername }) });
  client.on("error", () => undefined);
  const bytes = await arrived;
  client.destroy();
  server.close();
  return bytes;
}

describe("the greeting of a TLS client", () => {
  test("names its server", async () => {
    expect(readClientHello(await greeting("allowed.test"))).toEqual({ kind: "tls", serverName: "allowed.test" });
    expect(readClientHello(await greeting())).toEqual({ kind: "tls", serverName: undefined });
  });

  test("that is not complete asks for more, wherever it is cut", async () => {
    const bytes = await greeting("allowed.test");
    for (let length = 0; length < bytes.length; length++) {
      expect(readClientHello(bytes.subarray(0, length))).toEqual({ kind: "more" });
    }
  });

  test("with wrong lengths is no greeting, and never throws", async () => {
    const bytes = await greeting("allowed.test");
    for (let at = 5; at < bytes.length; at++) {
      const broken = Buffer.from(bytes);
      broken[at] = 0xff;
      expect(["tls", "other"]).toContain(readClientHello(broken).kind);
    }
  });

  test.each(["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\x16\x02\x00\x00\x01x", "\x17\x03\x03\x00\x01x"])(
    "is not %j",
    (text) => {
      expect(readClientHello(Buffer.from(text, "latin1"))).toEqual({ kind: "other" });
    },
  );

  test("in two records is refused: the name could be in the second", async () => {
    const bytes = await greeting("allowed.test");
    const body = bytes.subarray(5);
    const record = (part: Buffer) =>
      Buffer.concat([Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part]);
    const split = Buffer.concat([record(body.subarray(0, 50)), record(body.subarray(50))]);
    expect(readClientHello(split)).toEqual({ kind: "other" });
  });
});
