import { pipeline } from "node:stream/promises";
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from "node:zlib";
import { describe, expect, test } from "vitest";
import { startLoopbackServer } from "../../test/fakes/loopback-server.ts";
import type { WebRequest } from "../base/ports.ts";
import { createPublicWeb } from "./public-web.ts";

function local(url: string, request: Partial<WebRequest> = {}) {
  const web = createPublicWeb({ allowPrivateHosts: true });
  return web.get({ url, maxBytes: 1_000_000, timeoutMs: 10_000, ...request }, new AbortController().signal);
}

function* zeros(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

describe("a body", () => {
  const PLAIN = "räksmörgås ".repeat(1_000);

  test.each([
    ["gzip", gzipSync(PLAIN)],
    ["br", brotliCompressSync(PLAIN)],
    ["deflate", deflateSync(PLAIN)],
    ["deflate", deflateRawSync(PLAIN)],
    ["identity", Buffer.from(PLAIN)],
    ["GZIP", gzipSync(PLAIN)],
    ["gzip, br", brotliCompressSync(gzipSync(PLAIN))],
  ])("encoded as %s is decoded", async (encoding, body) => {
    const { url } = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(body);
    });
    const response = await local(url);
    expect({ text: String(response.body), truncated: response.truncated }).toEqual({ text: PLAIN, truncated: false });
  });

  test("is cut at the bound, and whole when it has exactly that size", async () => {
    const { url } = await startLoopbackServer((_request, response) => response.end("0123456789"));
    const exact = await local(url, { maxBytes: 10 });
    const cut = await local(url, { maxBytes: 9 });
    expect([String(exact.body), exact.truncated, String(cut.body), cut.truncated]).toEqual([
      "0123456789",
      false,
      "012345678",
      true,
    ]);
  });

  test.each([
    ["gzip", createGzip],
    ["br", () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ["deflate", createDeflate],
  ])("that is an endless %s bomb stops at the bound", async (encoding, createEncoder) => {
    const { url } = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      // Ends with an error when the client has had enough.
      pipeline(zeros(), createEncoder(), response).catch(() => undefined);
    });
    const response = await local(url, { maxBytes: 100_000 });
    expect([response.body.length, response.truncated]).toEqual([100_000, true]);
  });

  test("that decodes to nothing for ever stops too", async () => {
    const nothing = gzipSync("");
    const { url } = await startLoopbackServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const more = () => {
        while (!response.destroyed && response.write(nothing));
        response.once("drain", more);
      };
      more();
    });
    const response = await local(url, { maxBytes: 1_000 });
    expect([response.body.length, response.truncated]).toEqual([0, true]);
  });

  test("that is broken, cut off or encoded in an unknown way is an error", async () => {
    const { url } = await startLoopbackServer((request, response) => {
      const encoding = request.url === "/unknown" ? "zstd-x" : request.url === "/many" ? "gzip, gzip, gzip" : "gzip";
      response.writeHead(200, { "content-encoding": encoding });
      if (request.url === "/cut") {
        response.write(gzipSync(PLAIN).subarray(0, 20));
        response.socket?.end();
      } else if (request.url === "/short") {
        response.end(gzipSync(PLAIN).subarray(0, 30));
      } else {
        response.end("not gzip at all");
      }
    });
    for (const path of ["/broken", "/cut", "/short", "/unknown", "/many"]) {
      await expect(local(url + path), path).rejects.toMatchObject({ reason: "NetworkFailed" });
    }
  });
});
