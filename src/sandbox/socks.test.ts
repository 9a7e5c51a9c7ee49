import { describe, expect, test } from "vitest";
import { readSocksGreeting, readSocksRequest, socksReply } from "./socks.ts";

const bytes = (...values: readonly (number | string)[]): Buffer =>
  Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value, "latin1") : Buffer.of(value))));

describe("a greeting", () => {
  test.each<[string, Buffer, unknown]>([
    ["nothing", bytes(), { kind: "more" }],
    ["its version", bytes(5), { kind: "more" }],
    ["half of the methods", bytes(5, 2, 1), { kind: "more" }],
    ["SOCKS4", bytes(4, 1), { kind: "refused", answer: undefined }],
    ["only a password", bytes(5, 1, 2), { kind: "refused", answer: bytes(5, 0xff) }],
    ["no method", bytes(5, 0), { kind: "refused", answer: bytes(5, 0xff) }],
    ["no authentication", bytes(5, 2, 2, 0), { kind: "read", value: "greeted", answer: bytes(5, 0), rest: bytes() }],
    ["more than it", bytes(5, 1, 0, 5, 1), { kind: "read", value: "greeted", answer: bytes(5, 0), rest: bytes(5, 1) }],
  ])("with %s", (_name, given, expected) => {
    expect(readSocksGreeting(given)).toEqual(expected);
  });
});

describe("a request", () => {
  const read = (host: string, port: number, rest = bytes()) => {
    return { kind: "read", value: { host, port }, answer: socksReply("opened"), rest };
  };

  test.each<[string, Buffer, unknown]>([
    ["for a name", bytes(5, 1, 0, 3, 3, "a.b", 1, 187), read("a.b", 443)],
    ["with bytes behind it", bytes(5, 1, 0, 3, 3, "a.b", 1, 187, "xy"), read("a.b", 443, bytes("xy"))],
    ["for an address", bytes(5, 1, 0, 1, 127, 0, 0, 1, 0, 80), read("127.0.0.1", 80)],
    [
      "for an IPv6 address",
      bytes(5, 1, 0, 4, 32, 1, ...Array(13).fill(0), 1, 0, 80),
      read("[2001:0000:0000:0000:0000:0000:0000:0001]", 80),
    ],
    ["for an empty name", bytes(5, 1, 0, 3, 0, 0, 80), read("", 80)],
    ["without its port", bytes(5, 1, 0, 3, 3, "a.b", 1), { kind: "more" }],
    ["to listen", bytes(5, 2, 0, 1, 127, 0, 0, 1, 0, 80), { kind: "refused", answer: socksReply("badCommand") }],
    ["for UDP", bytes(5, 3, 0, 1, 127, 0, 0, 1, 0, 80), { kind: "refused", answer: socksReply("badCommand") }],
    ["for an unknown kind", bytes(5, 1, 0, 2, 127), { kind: "refused", answer: socksReply("badAddress") }],
    ["of another version", bytes(4, 1), { kind: "refused", answer: undefined }],
  ])("%s", (_name, given, expected) => {
    expect(readSocksRequest(given)).toEqual(expected);
  });

  test("never waits for more than the longest name", () => {
    const longest = bytes(5, 1, 0, 3, 255, "a".repeat(255), 1, 187);
    for (let length = 0; length < longest.length; length++) {
      expect(readSocksRequest(longest.subarray(0, length))).toEqual({ kind: "more" });
    }
    expect(readSocksRequest(longest)).toEqual(read("a".repeat(255), 443));
  });
});
