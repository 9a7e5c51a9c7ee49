import { describe, expect, test } from "vitest";
import { createDomainPolicy, domainAllowed, normalHost, parseDomainEntry } from "./allowed-domains.ts";
import { EffectError } from "./ports.ts";

const allows = (entry: string, host: string): boolean =>
  domainAllowed(
    [parseDomainEntry(entry)].filter((parsed) => parsed !== undefined),
    host,
  );

test.each<[entry: string, yes: string[], no: string[]]>([
  [
    "api.github.com",
    ["api.github.com", "API.GitHub.com", "api.github.com.", "x.api.github.com"],
    ["gist.github.com", "github.com", "api.github.com.evil.test", "xapi.github.com"],
  ],
  [
    "*.example.com",
    ["api.example.com", "foo.bar.example.com", "API.EXAMPLE.COM"],
    ["example.com", "notexample.com", "example.com.evil.test"],
  ],
  ["example.com", ["example.com", "api.example.com"], ["notexample.com", "example.org", "com"]],
  ["Example.COM.", ["example.com"], ["notexample.com"]],
  ["*", ["example.com", "127.0.0.1", "::1"], [""]],
  ["bücher.example", ["xn--bcher-kva.example", "BÜCHER.example", "shop.bücher.example"], ["bucher.example"]],
  ["127.0.0.1", ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1"], ["127.0.0.2", "x.127.0.0.1"]],
  ["[::1]", ["::1", "[::1]", "0:0:0:0:0:0:0:1"], ["::2", "127.0.0.1"]],
  ["::1", ["[::1]"], ["::2"]],
])("%s", (entry, yes, no) => {
  expect(yes.filter((host) => !allows(entry, host))).toEqual([]);
  expect(no.filter((host) => allows(entry, host))).toEqual([]);
});

test.each([
  "https://example.com",
  "example.com/path",
  "example.com:443",
  "",
  "*.",
  "**.example.com",
  "a..b",
  "user@example.com",
  "exa mple.com",
  "*.127.0.0.1",
  "a*.example.com",
  "%65xample.com",
])("%j can match nothing", (entry) => {
  expect(parseDomainEntry(entry)).toBeUndefined();
});

describe("a policy", () => {
  const reasonOf = (work: () => void): string => {
    try {
      work();
      return "allowed";
    } catch (error) {
      return error instanceof EffectError ? `${error.reason}: ${error.message}` : String(error);
    }
  };

  test("refuses with the host", () => {
    expect(reasonOf(() => createDomainPolicy([["github.io"]]).check("GIST.github.com.", 443))).toBe(
      "SandboxRefused: SandboxError: host gist.github.com is not in allowed_domains",
    );
  });

  test("without lists allows, with an empty list nothing, with two only what both allow", () => {
    const judge = (lists: string[][], host: string) =>
      reasonOf(() => createDomainPolicy(lists).check(host, 443)).slice(0, 7);
    expect(judge([], "a.test")).toBe("allowed");
    expect(judge([[]], "a.test")).toBe("Sandbox");
    expect(
      judge(
        [
          ["a.test", "b.test"],
          ["b.test", "c.test"],
        ],
        "a.test",
      ),
    ).toBe("Sandbox");
    expect(
      judge(
        [
          ["a.test", "b.test"],
          ["b.test", "c.test"],
        ],
        "b.test",
      ),
    ).toBe("allowed");
    expect(judge([["https://a.test"]], "a.test")).toBe("Sandbox");
  });

  test("names a host only where every list spells it out", () => {
    const named = (lists: string[][], host: string) => createDomainPolicy(lists).named(host);
    expect(named([["box.test"]], "BOX.test")).toBe(true);
    expect(named([["box.test"]], "a.box.test")).toBe(false);
    expect(named([["*.box.test"]], "a.box.test")).toBe(false);
    expect(named([["*"]], "box.test")).toBe(false);
    expect(named([["*"], ["box.test"]], "box.test")).toBe(false);
    expect(named([], "box.test")).toBe(false);
    expect(named([["10.0.0.1"]], "10.0.0.1")).toBe(true);
  });
});

test("hosts are spelled as a URL spells them", () => {
  expect(["EXAMPLE.com.", "[::1]", "0x7f000001", "a b", "a/b", "a:1"].map(normalHost)).toEqual([
    "example.com",
    "::1",
    "127.0.0.1",
    undefined,
    undefined,
    undefined,
  ]);
});
