import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { createPublicWeb } from "#world";
import { startLoopbackServer } from "../../test/fakes/loopback-server.ts";
import { createTemporaryWorkspace, createToolContext } from "../../test/fakes/temporary-workspace.ts";
import { fetchTool } from "./fetch.ts";

/** Serves with `listener` and fetches `path` from it; `{url}` stands for the server in the answer. */
async function fetchFrom(listener: RequestListener, args: Record<string, unknown> = {}, path = "/") {
  const { url } = await startLoopbackServer(listener);
  const workspace = createTemporaryWorkspace(createPublicWeb({ allowPrivateHosts: true }));
  const output = await fetchTool.run({ url: url + path, ...args }, createToolContext(workspace.ports));
  const [block] = output.content;
  return { text: block?.type === "text" ? block.text.replaceAll(url, "{url}") : "no text", isError: output.isError };
}

function serve(contentType: string, body: string | Buffer, status = 200): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": contentType }).end(body);
  };
}

const PAGE =
  "<html><head><title>T</title><script>evil()</script></head><body><h1>Hi</h1><p>A <b>bold</b> <a href='/x'>link</a></p></body></html>";

describe("a page", () => {
  test("in HTML becomes Markdown, without its scripts", async () => {
    const { text, isError } = await fetchFrom(serve("text/html; charset=utf-8", PAGE));
    expect({ text, isError }).toEqual({ text: expect.stringMatching(/^\[200 \{url\}\/\]\n\n/), isError: false });
    expect(text).toContain("# Hi");
    expect(text).toContain("A **bold** [link]({url}/x)");
    expect(text).not.toContain("evil");
  });

  test("stays as it is when raw, and so does other text", async () => {
    expect((await fetchFrom(serve("text/html", PAGE), { raw: true })).text).toBe(`[200 {url}/]\n\n${PAGE}`);
    expect((await fetchFrom(serve("application/json", '{"a":1}'))).text).toBe('[200 {url}/]\n\n{"a":1}');
    expect((await fetchFrom(serve("application/ld+json", "[]"))).text).toBe("[200 {url}/]\n\n[]");
    expect((await fetchFrom(serve("", "plain"))).text).toBe("[200 {url}/]\n\nplain");
    expect((await fetchFrom(serve("text/plain", ""))).text).toBe("[200 {url}/]\n\n(empty body)");
  });

  test("is decoded by its charset, from the header or its own head", async () => {
    const latin = Buffer.from("caf\xe9", "latin1");
    expect((await fetchFrom(serve("text/plain; charset=iso-8859-1", latin))).text).toContain("café");
    const meta = Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9</p>', "latin1");
    expect((await fetchFrom(serve("text/html", meta))).text).toContain("café");
    expect((await fetchFrom(serve("text/plain; charset=nonsense", "café"))).text).toContain("café");
  });

  test("tells where it was in the end", async () => {
    const { text } = await fetchFrom((request, response) => {
      if (request.url === "/") response.writeHead(301, { location: "/moved" }).end();
      else response.writeHead(200, { "content-type": "text/plain" }).end("here");
    });
    expect(text).toBe("[200 {url}/moved]\n\nhere");
  });

  test("that is long is cut, and says so", async () => {
    const { text } = await fetchFrom(serve("text/plain", "x".repeat(300_000)));
    expect(text.length).toBeLessThan(100_100);
    expect(text.endsWith("x\n[… the rest was left out]")).toBe(true);
    expect((await fetchFrom(serve("text/plain", "x".repeat(3_000_000)))).text.length).toBeLessThan(100_100);
  });
});

describe("what is not shown", () => {
  test("a binary is refused with type and size", async () => {
    await expect(fetchFrom(serve("application/pdf", "%PDF-1.7"))).rejects.toThrow("is not text: application/pdf, 8 B.");
    await expect(fetchFrom(serve("", Buffer.from("\x7fELF\0\0", "latin1")))).rejects.toThrow("program (ELF), 6 B");
    await expect(fetchFrom(serve("image/png", Buffer.alloc(3_000_000)))).rejects.toThrow("image/png, more than 2.0 MB");
  });

  test("an error status is an error result with the beginning of the body", async () => {
    expect(await fetchFrom(serve("text/plain", "gone for good", 404))).toEqual({
      text: "[404 {url}/]\n\ngone for good",
      isError: true,
    });
    const long = await fetchFrom(serve("text/plain", "e".repeat(50_000), 500));
    expect([long.text.length < 2_100, long.isError]).toEqual([true, true]);
    expect((await fetchFrom(serve("image/png", "png", 403))).text).toContain("is not text: image/png, 3 B.");
  });

  test("a private address is refused by the port", async () => {
    const context = createToolContext(createTemporaryWorkspace().ports);
    const fetching = fetchTool.run({ url: "http://169.254.169.254/latest/meta-data/" }, context);
    await expect(fetching).rejects.toMatchObject({ reason: "AddressRefused" });
  });
});
