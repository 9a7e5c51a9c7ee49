import { describe, expect, test } from "vitest";
import { checkOrigin, type Listener, tcpHosts } from "./origin.ts";

const listener: Listener = { channel: "tcp", hosts: tcpHosts("127.0.0.1", 8080), origins: ["http://localhost:3000"] };

function check(rawHeaders: readonly string[], target = "/v1/health") {
  return () => checkOrigin({ method: "GET", target, rawHeaders }, listener);
}

describe("the host of a request", () => {
  test.each(["localhost:8080", "127.0.0.1:8080", "LocalHost:8080"])("%s is this server", (host) => {
    expect(check(["Host", host])()).toBeUndefined();
  });

  test.each([
    ["none", []],
    ["empty", ["Host", ""]],
    ["without the port", ["Host", "localhost"]],
    ["with another port", ["Host", "localhost:80"]],
    ["another name for loopback", ["Host", "127.0.0.2:8080"]],
    ["a name that begins like it", ["Host", "localhost:8080.evil.example"]],
    ["with a user before it", ["Host", "evil@localhost:8080"]],
    ["two of them, the right one first", ["Host", "localhost:8080", "host", "evil.example"]],
    ["the right one twice", ["Host", "localhost:8080", "HOST", "localhost:8080"]],
  ])("is refused: %s", (_what, rawHeaders) => {
    expect(check(rawHeaders)).toThrow(expect.objectContaining({ reason: "HostRefused" }));
  });

  test.each(["http://localhost:8080/v1/health", "localhost:8080", "*", ""])(
    "is refused with the target %s",
    (target) => {
      expect(check(["Host", "localhost:8080"], target)).toThrow(expect.objectContaining({ reason: "HostRefused" }));
    },
  );
});

describe("the origin of a request", () => {
  test("is given back when it is allowed", () => {
    expect(check(["Host", "localhost:8080", "Origin", "http://localhost:3000"])()).toBe("http://localhost:3000");
  });

  test.each([
    ["null"],
    [""],
    ["http://localhost:8080"],
    ["http://localhost:3000.evil.example"],
    ["http://localhost:3000/"],
    ["http://localhost:3000", "http://localhost:3000"],
  ])("is refused when it is not: %s", (...origins) => {
    const headers = ["Host", "localhost:8080", ...origins.flatMap((origin) => ["origin", origin])];
    expect(check(headers)).toThrow(expect.objectContaining({ reason: "OriginRefused" }));
  });
});
