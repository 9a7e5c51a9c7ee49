import { describe, expect, test } from "vitest";
import { normalHost } from "./allowed-domains.ts";
import { createDomainList, isDomainEntry } from "./domain-list.ts";

describe("a list of domains", () => {
  test.each([
    [["api.github.com"], ["api.github.com", "v2.api.github.com"], ["gist.github.com", "github.com"]],
    [["*.example.com"], ["api.example.com", "foo.bar.example.com"], ["example.com", "notexample.com"]],
    [["example.com"], ["example.com", "api.example.com"], ["notexample.com", "example.com.evil.test", "com"]],
    [["Example.COM."], ["example.com"], ["example.org"]],
    [["*"], ["example.com", "127.0.0.1", "::1"], []],
    [["127.0.0.1"], ["127.0.0.1"], ["1.127.0.0.1", "127.0.0.2"]],
    [["[::1]"], ["::1"], ["::2"]],
    [[], [], ["example.com", "localhost"]],
  ])("%j", (entries, reached, refused) => {
    const list = createDomainList([entries]);
    expect(reached.filter((host) => list.refusal(host) !== undefined)).toEqual([]);
    expect(refused.filter((host) => list.refusal(host) === undefined)).toEqual([]);
  });

  test.each([
    [[["example.com", "other.test"], ["api.example.com"]], ["api.example.com"]],
    [[["*"], ["*.example.com"], ["example.com"]], ["*.example.com"]],
    [
      [["*"], ["10.0.0.1", "localhost"]],
      ["10.0.0.1", "localhost"],
    ],
    [[["a.test"], ["b.test"]], []],
    [[["a.test"], []], []],
  ])("of %j the entries are %j: what every list lets pass", (lists, entries) => {
    const list = createDomainList(lists);
    expect(list.entries).toEqual(entries);
    expect(list.lists).toEqual(lists);
  });

  test("refuses with the host and the first list that has no entry for it", () => {
    const lists = [["a.test", "b.test"], ["b.test"]];
    const list = createDomainList(lists, ["config.toml", "harness.md:4"]);
    const how = "To allow it, add the host to that list";
    expect(list.refusal("b.test")).toBeUndefined();
    expect(list.refusal("A.test.")).toBe(`host a.test is not in allowed_domains (harness.md:4). ${how}`);
    expect(list.refusal("c.test")).toBe(`host c.test is not in allowed_domains (config.toml). ${how}`);
    expect(createDomainList([[]]).refusal("c.test")).toBe("host c.test is not in allowed_domains");
  });

  test("names an address only by that address or localhost, never by a wildcard", () => {
    const named = (...entries: string[]) => createDomainList([entries]).namesAddress("127.0.0.1");
    expect([named("127.0.0.1"), named("0x7f.1"), named("localhost")]).toEqual([true, true, true]);
    expect([named("*"), named("example.com"), named("127.0.0.2"), named()]).toEqual([false, false, false, false]);
    expect(createDomainList([["localhost"]]).namesAddress("10.0.0.1")).toBe(false);
    expect(createDomainList([["10.0.0.1"], ["*"]]).namesAddress("10.0.0.1")).toBe(false);
    expect(createDomainList([["10.0.0.1"], ["10.0.0.1"]]).namesAddress("10.0.0.1")).toBe(true);
  });

  test("takes names, addresses and the two wildcards, and nothing else", () => {
    const right = ["a.example", "*.a.example", "*", "10.0.0.1", "[fd00::1]", "fd00::1", "localhost", "münchen.example"];
    expect(right.filter((entry) => !isDomainEntry(entry))).toEqual([]);
    const wrong = [
      "",
      "http://a.example",
      "a.example:443",
      "a.example/x",
      "a b",
      "a*.example",
      "*.*",
      "*.10.0.0.1",
      "a\0b",
      "a..b",
    ];
    expect(wrong.filter(isDomainEntry)).toEqual([]);
    expect(() => createDomainList([["a.example:443"]])).toThrow("a.example:443");
  });

  test.each([
    ["0177.0.0.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
    ["EXAMPLE.com.", "example.com"],
    ["a@b", undefined],
    ["a%00b", undefined],
    ["::1%eth0", undefined],
    ["x".repeat(300), undefined],
  ])("%s is %s", (text, host) => {
    expect(normalHost(text)).toBe(host);
  });
});
