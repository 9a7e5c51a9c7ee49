/** Text made to keep the rules busy is not read to its end, and nothing of what was not read comes out. */
import { describe, expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const SECRET = "ghp_Zk3vQ9mX2pLr7TnB5yHd8WcJ4sFg6Ae1Ru0i";
const dense = (chars: number): string => "pwd= github ".repeat(Math.ceil(chars / 12)).slice(0, chars);

describe("a long text of nothing but names", () => {
  const text = `${dense(1_000_000)}\n${SECRET}\nthe end`;

  test("is withheld from where the looks are used up", () => {
    const { text: redacted, counts } = createRedactor().redact(text);
    expect(counts).toEqual({ unread: 1 });
    expect(redacted).toMatch(/^(?:pwd= github )+(?:pwd= )?«redacted:unread»$/);
    expect(redacted.length).toBeLessThan(text.length / 2);
  });

  test("gives the same again, and stays as it is", () => {
    const redactor = createRedactor();
    const { text: once } = redactor.redact(text);
    expect(redactor.redact(text).text === once).toBe(true);
    expect(redactor.redact(once).text === once).toBe(true);
  });

  test("keeps the markers that it had, and nothing between them", () => {
    const { text: redacted } = createRedactor().redact(`${dense(1_000_000)} «redacted:jwt» ${SECRET}`);
    expect(redacted.endsWith("«redacted:unread»«redacted:jwt»«redacted:unread»")).toBe(true);
  });

  test("is withheld as part of a JSON value too", () => {
    const { value, counts } = createRedactor().redactJson({ output: text, code: 0 });
    expect(counts).toEqual({ unread: 1 });
    expect(value.output).not.toContain("ghp_");
  });

  test("is told at its place", () => {
    const findings = createRedactor().explain(text);
    expect(findings).toEqual([{ kind: "unread", line: 1, column: expect.any(Number) }]);
  });

  test("is read as a stream, which looks at a piece at a time", () => {
    const stream = createRedactor().createStreamRedactor();
    let out = "";
    for (let at = 0; at < text.length; at += 4_000) out += stream.push(text.slice(at, at + 4_000));
    out += stream.flush();
    expect(out.endsWith("\n«redacted:github-pat»\nthe end")).toBe(true);
  });
});

describe("what is told by what stands behind it", () => {
  const secret = "Zk3vQ9m";
  const names = (chars: number): string => "pwd ".repeat(Math.ceil(chars / 4)).slice(0, chars);
  /** As long are names that use up the looks of a text. */
  const usedUp = 50_000;

  test.each([
    ["a password in an address of Go", `private_key a:${secret}@tcp(db:3306)/x`],
    ["the end of a key", `pwd\n${secret}${"/pwd".repeat(13)}8\n-----END PRIVATE KEY-----`],
  ])("%s does not come out when the looks are used up in front of that", (_, text) => {
    const redactor = createRedactor();
    for (let chars = usedUp - 30; chars < usedUp + 10; chars++) {
      expect(redactor.redact(`${names(chars)} ${text} ${names(20_000)}`).text).not.toContain(secret);
    }
  });
});

test("a long secret in front of a text of nothing but names pays for no more of it than its marker does", () => {
  const redactor = createRedactor();
  const key = `-----BEGIN PRIVATE KEY-----\n${`${"Zk3vQ9mX2pLr7TnB5yHd8WcJ4sFg6Ae1".repeat(2)}\n`.repeat(4_000)}-----END PRIVATE KEY-----\n`;
  const { text: once } = redactor.redact(key + dense(500_000));
  expect(redactor.redact(once).text === once).toBe(true);
});

test("a long text with a known secret on every line is read to its end", () => {
  const redactor = createRedactor({ literals: [{ value: "correct-horse-Battery7-staple" }] });
  const lines = Array.from(
    { length: 14_000 },
    (_, line) => `${line} auth: request of correct-horse-Battery7-staple took 12 ms`,
  );
  expect(redactor.redact(lines.join("\n")).counts).toEqual({ "known-secret": 14_000 });
});

test("a short text of nothing but names is read to its end", () => {
  const { text } = createRedactor().redact(`${dense(32_768)}\n${SECRET}\nthe end`);
  expect(text.endsWith("\n«redacted:github-pat»\nthe end")).toBe(true);
});

test("a long text with a secret on every line is read to its end", () => {
  const lines = Array.from({ length: 20_000 }, (_, line) => `${line} API_TOKEN=${SECRET}`);
  const { text, counts } = createRedactor().redact(lines.join("\n"));
  expect(counts).toEqual({ "github-pat": 20_000 });
  expect(text).not.toContain("ghp_");
});
