import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, test } from "vitest";
import { checkOrigin, loopbackHosts, preflightAnswer, presentedToken } from "#auth";
import type { RawRequest } from "./request-origin.ts";

const rules = { hosts: loopbackHosts(8080), origins: ["https://app.example.com"] };

function request(headers: readonly (readonly [string, string])[], change: Partial<RawRequest> = {}): RawRequest {
  return { method: "GET", target: "/v1/tools", rawHeaders: headers.flat(), ...change };
}

function judge(raw: RawRequest): string {
  try {
    checkOrigin(raw, rules);
    return "ok";
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

const host = ["Host", "localhost:8080"] as const;

describe("host", () => {
  test.each([
    ["localhost:8080", "ok"],
    ["127.0.0.1:8080", "ok"],
    ["LOCALHOST:8080", "ok"],
    ["localhost", "HostRefused"],
    ["localhost:80", "HostRefused"],
    ["localhost:08080", "HostRefused"],
    ["localhost.:8080", "HostRefused"],
    ["localhost:8080.evil.example", "HostRefused"],
    ["evil.example:8080", "HostRefused"],
    ["127.0.0.1:8080, evil.example", "HostRefused"],
    ["user@localhost:8080", "HostRefused"],
    ["[::1]:8080", "HostRefused"],
    ["0.0.0.0:8080", "HostRefused"],
    ["", "HostRefused"],
  ])("%s is %s", (value, expected) => {
    expect(judge(request([["Host", value]]))).toBe(expected);
  });

  test("once, however it is written", () => {
    expect(judge(request([]))).toBe("HostRefused");
    expect(judge(request([host, host]))).toBe("HostRefused");
    expect(judge(request([host, ["hOST", "evil.example"]]))).toBe("HostRefused");
    expect(judge(request([["hOsT", "localhost:8080"]]))).toBe("ok");
  });

  test("a value is never taken for a name", () => {
    expect(
      judge(
        request([
          ["X-A", "host"],
          ["X-B", "localhost:8080"],
        ]),
      ),
    ).toBe("HostRefused");
  });

  test("the target is a path of this server", () => {
    const targets = [
      "http://localhost:8080/v1/tools",
      "http://evil.example/",
      "//evil.example/",
      "*",
      "evil.example:443",
      "",
      "/a b",
      "/a\\b",
      "/a#b",
    ];
    for (const target of targets) expect(judge(request([host], { target })), target).toBe("HostRefused");
    expect(judge(request([host], { target: "/v1/sessions?x=http://y" }))).toBe("ok");
  });
});

describe("origin", () => {
  test.each([
    ["https://app.example.com", "ok"],
    ["HTTPS://App.Example.com", "ok"],
    ["https://app.example.com:443", "OriginRefused"],
    ["http://app.example.com", "OriginRefused"],
    ["https://app.example.com.evil.example", "OriginRefused"],
    ["http://localhost:8080", "OriginRefused"],
    ["null", "OriginRefused"],
    ["", "OriginRefused"],
  ])("%s is %s", (origin, expected) => {
    expect(judge(request([host, ["Origin", origin]]))).toBe(expected);
  });

  test("two are none", () => {
    const twice = ["Origin", "https://app.example.com"] as const;
    expect(judge(request([host, twice, twice]))).toBe("OriginRefused");
  });

  test("null is not to be had by listing it", () => {
    expect(() => checkOrigin(request([host, ["Origin", "null"]]), { ...rules, origins: ["null"] })).toThrow();
  });
});

describe("preflight", () => {
  const ask = (method: string, headers: string, origin = "https://app.example.com") =>
    request(
      [
        host,
        ["Origin", origin],
        ["Access-Control-Request-Method", method],
        ["Access-Control-Request-Headers", headers],
      ],
      { method: "OPTIONS" },
    );

  test("is answered for a page that is listed", () => {
    expect(preflightAnswer(ask("POST", "x-harness-token, Content-Type"), rules)).toMatchObject({
      "access-control-allow-origin": "https://app.example.com",
      vary: "Origin",
    });
    expect(preflightAnswer(request([host]), rules)).toBeUndefined();
    expect(preflightAnswer(request([host], { method: "OPTIONS" }), rules)).toBeUndefined();
  });

  test("fails closed", () => {
    for (const wrong of [
      ask("PATCH", ""),
      ask("post", ""),
      ask("POST", "authorization"),
      ask("POST", "", "https://evil.example"),
      ask("POST", "", "null"),
      request([host, ["Access-Control-Request-Method", "POST"]], { method: "OPTIONS" }),
    ]) {
      expect(() => preflightAnswer(wrong, rules)).toThrow(expect.objectContaining({ reason: "OriginRefused" }));
    }
  });
});

test("a token comes in one header", () => {
  const token = (headers: readonly (readonly [string, string])[], bearer = false) =>
    presentedToken(request(headers), { bearer });
  expect(token([["X-HARNESS-token", "t"]])).toBe("t");
  expect(token([["Authorization", "Bearer t"]])).toBeUndefined();
  expect(token([["Authorization", "bearer t"]], true)).toBe("t");
  expect(token([["Authorization", "Basic t"]], true)).toBe("");
  expect(token([["Sec-WebSocket-Protocol", "other, harness.token.hat1.a.b ,harness"]])).toBe("hat1.a.b");
  expect(token([["Sec-WebSocket-Protocol", "harness"]])).toBeUndefined();
  expect(() => token([["Sec-WebSocket-Protocol", "harness.token.t, harness.token.t"]])).toThrow(/more than one/);
  expect(() =>
    token([
      ["X-Harness-Token", "t"],
      ["x-harness-token", "u"],
    ]),
  ).toThrow(/more than one/);
  expect(() =>
    token(
      [
        ["X-Harness-Token", "t"],
        ["Authorization", "Bearer t"],
      ],
      true,
    ),
  ).toThrow(/more than one/);
});

test("what Node hands over of a real request is what is judged", async () => {
  const judged: string[] = [];
  const server = createServer({ requireHostHeader: false }, (incoming, response) => {
    const { method = "", url: target = "", rawHeaders } = incoming;
    judged.push(judge({ method, target, rawHeaders }));
    response.end();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  for (const head of [
    "GET / HTTP/1.1\r\nHost: localhost:8080",
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\nHost: evil.example",
    "GET http://evil.example/ HTTP/1.1\r\nHost: localhost:8080",
    "GET / HTTP/1.1\r\nHost: evil.example",
    "GET / HTTP/1.1\r\nX: 1",
  ]) {
    await new Promise<void>((closed) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(`${head}\r\nConnection: close\r\n\r\n`));
      socket.resume().once("close", () => closed());
    });
  }
  server.close();
  expect(judged).toEqual(["ok", "HostRefused", "HostRefused", "HostRefused", "HostRefused"]);
});
