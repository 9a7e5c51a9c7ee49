import { expect, test } from "vitest";
import { domainAllowed, normalHost, parseDomainEntry } from "./allowed-domains.ts";

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
