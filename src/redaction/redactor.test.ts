/** What a caller sees of redaction: markers, counts, positions, and that it fails closed. */

import { inspect } from "node:util";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { fillExample } from "../../test/fakes/rule-example.ts";
import { createRedactor, type Redactor, type UserPattern } from "./index.ts";
import type { RedactorOptions } from "./redactor.ts";
import { ruleRows } from "./rule-table.ts";
import { compileUserPatterns } from "./user-patterns.ts";

const clock = createManualClock();
const redactor = createRedactor();
const compile = (...patterns: UserPattern[]) => compileUserPatterns(patterns, clock);
const pat = fillExample("ghp_<a36>");
const jwt = fillExample("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ<a30>.<a43>");

describe("redact", () => {
  test("puts a marker where a secret was, and counts it", () => {
    expect(redactor.redact(`use ${pat} and ${pat}, or ${jwt}.`)).toEqual({
      text: "use «redacted:github-pat» and «redacted:github-pat», or «redacted:jwt».",
      counts: { "github-pat": 2, jwt: 1 },
    });
  });

  test("gives the same string back when there is nothing", () => {
    const text = "const token = lexer.next(); // password: string";
    expect(redactor.redact(text)).toEqual({ text, counts: {} });
  });

  test("finds in strings, and in strings of strings, what it finds in a file", () => {
    const file = `FROM node:24\nENV NPM_AUTH_PASSWORD ${pat.slice(4, 24)}\nRUN getConnection("jdbc:mysql://db", "root", "${pat.slice(20)}")\n`;
    for (let depth = 0, text = file; depth < 4; depth++, text = JSON.stringify({ text })) {
      const redacted = redactor.redact(text).text;
      expect(redacted.match(/«redacted:/g), `in ${depth} strings`).toHaveLength(2);
      let read = redacted;
      for (let inner = 0; inner < depth; inner++) read = (JSON.parse(read) as { text: string }).text;
      expect(read).toBe(redactor.redact(file).text);
    }
  });

  test("names what knows the token, not the field that it is in", () => {
    expect(redactor.redact(`password=${pat}\nAuthorization: Bearer ${jwt}\n`).text).toBe(
      "password=«redacted:github-pat»\nAuthorization: Bearer «redacted:jwt»\n",
    );
  });

  describe("finds what goes over several lines in every form that a listing or a string gives it", () => {
    const lines = Array.from({ length: 4 }, () => fillExample("<b64>"));
    const texts = {
      "a key": ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----"].join("\n"),
      "a key with headers": [
        "-----BEGIN RSA PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        `DEK-Info: AES-128-CBC,${fillExample("<H32>")}`,
        "",
        ...lines,
        "-----END RSA PRIVATE KEY-----",
      ].join("\n"),
      "the end of a key": [...lines, "-----END PRIVATE KEY-----"].join("\n"),
      "a name with its value": `env:\n- name: PGPASSWORD\n  value: "${lines[1]}"\n`,
      cookies: `{"set-cookie":["sid=${lines[1]}; Path=/"]}`,
      "a flag": `\ncurl -u ada:${lines[1]} https://api.example.test`,
    };
    const numbered = (text: string, write: (line: string, number: number) => string): string =>
      text
        .split("\n")
        .map((line, index) => write(line, index + 1))
        .join("\n");
    const forms: Readonly<Record<string, (text: string) => string>> = {
      "as it is": (text) => text,
      "in a JSON string": (text) => JSON.stringify({ text }),
      "numbered by fs.read": (text) => numbered(text, (line, number) => `${String(number).padStart(6)}\t${line}`),
      "numbered by fs.search": (text) => numbered(text, (line, number) => `${number}:${line}`),
      "numbered, all on one line": (text) =>
        numbered(text, (line, number) => `${number}\t${line}`).replace(/\s+/g, " "),
      "numbered, in a JSON string": (text) =>
        JSON.stringify(numbered(text, (line, number) => `${String(number).padStart(6)}\t${line}`)),
    };
    // Names and values of a YAML list are told apart by their lines.
    const isLost = (what: string, form: string): boolean =>
      what === "a name with its value" && form.endsWith("one line");
    const cases = Object.keys(texts)
      .flatMap((what) => Object.keys(forms).map((form) => [what, form] as const))
      .filter(([what, form]) => !isLost(what, form));
    test.each(cases)("%s, %s", (what, form) => {
      const text = forms[form]!(texts[what as keyof typeof texts]);
      const { text: redacted } = redactor.redact(text);
      expect(redacted).toContain("«redacted:");
      expect(redacted).not.toContain(lines[1]);
      const stream = redactor.createStreamRedactor();
      const streamed = [...text].map((char) => stream.push(char)).join("") + stream.flush();
      expect(streamed).not.toContain(lines[1]);
    });
  });

  test("keeps what says where a secret was", () => {
    expect(redactor.redact("postgres://app:n7R8wQz2v@db/app").text).toBe(
      "postgres://app:«redacted:postgres-url-password»@db/app",
    );
    expect(redactor.redact(`Set-Cookie: sid=${fillExample("<a32>")}; Path=/`).text).toBe(
      "Set-Cookie: sid=«redacted:set-cookie»; Path=/",
    );
    expect(redactor.redact(fillExample("https://hooks.slack.com/services/T<u9>/B<u10>/<a24>")).text).toBe(
      "https://hooks.slack.com/«redacted:slack-webhook»",
    );
  });

  test.each(ruleRows().map((row) => [row.kind, row] as const))("%s: its example is gone and stays gone", (_, row) => {
    const { text } = redactor.redact(fillExample(row.example));
    expect(text).toContain("«redacted:");
    expect(redactor.redact(text)).toEqual({ text, counts: {} });
  });

  test.each(ruleRows().map((row) => [row.kind, row] as const))("%s: a placeholder stays", (kind, row) => {
    const placeholder = fillExample(row.example, true);
    const found = placeholder === fillExample(row.example) ? [] : redactor.explain(placeholder);
    expect(found.filter((finding) => finding.kind === kind)).toEqual([]);
  });

  const countered = ruleRows().flatMap(({ kind, counter }) =>
    counter === undefined ? [] : [[kind, counter] as const],
  );
  test.each(countered)("%s: its counter-example is none of its kind", (kind, counter) => {
    expect(redactor.explain(fillExample(counter)).filter((finding) => finding.kind === kind)).toEqual([]);
  });

  test("changes nothing in what it has made, whatever stands around it", () => {
    const pieces = [
      ...ruleRows().map(({ example }) => fillExample(example)),
      " ",
      "\n",
      '"',
      "=",
      ": ",
      "»",
      "«",
      "a1",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 6 }), (parts) => {
        const { text } = redactor.redact(parts.join(""));
        expect(redactor.redact(text).text).toBe(text);
      }),
    );
  });

  test("takes no marker for the user and the password in front of a host", () => {
    const once = redactor.redact(`${pat};@tcp(db:3306)`).text;
    expect(once).toBe("«redacted:github-pat»;@tcp(db:3306)");
    expect(redactor.redact(once).text).toBe(once);
    expect(redactor.redact("app:«redacted:jwt»y2@tcp(db:3306)").text).not.toContain("y2");
    expect(redactor.redact("app:x1»y2@tcp(db:3306)").text).toBe("app:«redacted:data-source-password»@tcp(db:3306)");
  });

  test("takes nothing for a marker that is none", () => {
    expect(redactor.redact(`«redacted:${pat}»`).text).toBe("«redacted:«redacted:github-pat»»");
    expect(redactor.redact(`${pat}«redacted:jwt»${pat}`).text).toBe(
      "«redacted:github-pat»«redacted:jwt»«redacted:github-pat»",
    );
  });

  test("finds secrets that stand beside each other", () => {
    const { text } = redactor.redact(`${pat} ${pat}\n${jwt},${pat}`);
    expect(text).toBe("«redacted:github-pat» «redacted:github-pat»\n«redacted:jwt»,«redacted:github-pat»");
  });
});

describe("explain", () => {
  test("tells kind, line and column, and never the value", () => {
    const findings = redactor.explain(`first line\n  token: ${pat}\n\n${jwt}`);
    expect(findings).toEqual([
      { kind: "github-pat", line: 2, column: 10 },
      { kind: "jwt", line: 4, column: 1 },
    ]);
    expect(JSON.stringify(findings)).not.toContain(pat.slice(4));
  });
});

describe("status", () => {
  test("counts since the beginning, by kind, without values", () => {
    const fresh = createRedactor();
    fresh.redact(pat);
    fresh.redactJson({ password: "n7R8wQz2v" });
    fresh.explain(pat);
    expect(fresh.status()).toEqual({
      policy_version: expect.stringMatching(/^[0-9a-f]{16}$/),
      redacted_count: 2,
      counts: { "github-pat": 1, password: 1 },
      literals: { active: 0, skipped: 0 },
    });
  });

  test("has a version that follows the rules, the policy and the user patterns, not the secrets", async () => {
    const version = (options: RedactorOptions): string => createRedactor(options).status().policy_version;
    const plain = version({});
    expect(version({ literals: [{ value: "a known secret" }] })).toBe(plain);
    expect(version({ policy: { disabledKinds: ["iban"] } })).not.toBe(plain);
    expect(version({ userPatterns: await compile({ kind: "ticket", pattern: "T-\\d+" }) })).not.toBe(plain);
  });
});

describe("the policy", () => {
  test("can switch a kind off", () => {
    const without = createRedactor({ policy: { disabledKinds: ["iban"] } });
    expect(without.redact("DE89370400440532013000").text).toBe("DE89370400440532013000");
  });

  test("refuses a kind that does not exist", () => {
    expect(() => createRedactor({ policy: { disabledKinds: ["ibna"] } })).toThrow("ibna");
  });
});

describe("user patterns", () => {
  let withPattern: Redactor;
  beforeAll(async () => {
    withPattern = createRedactor({ userPatterns: await compile({ kind: "ticket", pattern: "ACME-\\d{4,8}" }) });
  });

  test("are redacted under their kind", () => {
    expect(withPattern.redact("see ACME-12345").text).toBe("see «redacted:ticket»");
  });

  test("are found across the borders of the pieces in which they run", () => {
    const text = `${"x ".repeat(8_190)}ACME-12345${" y".repeat(9_000)}`;
    expect(withPattern.redact(text).counts).toEqual({ ticket: 1 });
  });

  test("know the beginning of the text and of words also there", async () => {
    const anchored = createRedactor({ userPatterns: await compile({ kind: "start", pattern: "^x+|\\bend$" }) });
    expect(anchored.redact(`${"x".repeat(10)} ${"x ".repeat(20_000)}`).counts).toEqual({ start: 1 });
  });

  test("leave markers alone", async () => {
    const greedy = createRedactor({ userPatterns: await compile({ kind: "line", pattern: "secret.*" }) });
    const { text } = greedy.redact("my secret is «redacted:jwt» and more");
    expect(text).toBe("my «redacted:line»«redacted:jwt»«redacted:line»");
    expect(greedy.redact(text).text).toBe(text);
  });

  test.each([
    ["broken syntax", "(unclosed"],
    ["one that matches nothing", "x*"],
    ["one that is too long", "a".repeat(1_001)],
  ])("%s is refused", async (_, pattern) => {
    await expect(compile({ kind: "mine", pattern })).rejects.toThrow(
      expect.objectContaining({ reason: "RedactionFailed" }),
    );
  });

  test.each(["correct-horse(battery", "correct-horse[9-0]", "correct-horse{9999}", "correct-horse\\Z1"])(
    "%s is not repeated when it is refused: people write secrets there as they are",
    async (pattern) => {
      const error = await compile({ kind: "mine", pattern }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: "RedactionFailed" });
      expect(inspect(error, { depth: null })).not.toMatch(/correct|battery/);
      expect(inspect(error)).toContain("the user pattern mine cannot be used");
    },
  );

  test("that would drive another engine mad take linear time", async () => {
    const evil = createRedactor({ userPatterns: await compile({ kind: "evil", pattern: "(a+)+b" }) });
    expect(evil.redact(`${"a".repeat(20_000)}!`).counts).toEqual({});
  });

  test("that exceed their budget let nothing through", async () => {
    const slow = { monotonicMs: () => clock.monotonicMs() + ticks++ * 1_000 };
    let ticks = 0;
    const limited = createRedactor({ userPatterns: await compileUserPatterns([{ kind: "mine", pattern: "a" }], slow) });
    expect(() => limited.redact("some text")).toThrow(expect.objectContaining({ reason: "RedactionFailed" }));
    expect(() => limited.createStreamRedactor().push("some text")).toThrow("longer than 250 ms");
    expect(() => limited.redactJson({ a: "some text" })).toThrow("longer than 250 ms");
  });
});

describe("time", () => {
  const ONE_MEGABYTE = 1_000_000;
  const fill = (piece: string): string => piece.repeat(Math.ceil(ONE_MEGABYTE / piece.length));
  // Far above what it takes, and far below what a blow-up would take; `bench/redaction.ts` has the figures.
  test.each([
    ["one letter", "a"],
    ["base64", "QmFzZTY0"],
    ["names", "password="],
    ["quotes", 'token="'],
    ["key headers", "-----BEGIN RSA PRIVATE KEY-----\n"],
    ["token beginnings", "eyJhbGciOiJIUzI1NiJ9."],
    ["digits in groups", "4111 "],
    ["backslashes", '\\"password\\":\\"'],
    ["addresses", "http://a:b@"],
  ])("1 MB of %s does not blow up", (_, piece) => {
    const text = fill(piece);
    const computedMs = computingTime();
    redactor.redact(text);
    expect(computedMs()).toBeLessThan(3_000);
  });
});

test("many secrets on one long line are told at their places in linear time", () => {
  const text = `first\n${`${pat} in a text of some length, `.repeat(90_000)}`;
  const computedMs = computingTime();
  const findings = redactor.explain(text);
  expect(computedMs()).toBeLessThan(3_000);
  expect(findings).toHaveLength(90_000);
  expect(findings[1]).toEqual({ kind: "github-pat", line: 2, column: pat.length + 28 });
});

test("flags that stand close together are told apart by their commands", () => {
  const flags = "docker run -p 80:80 -p 81:81 alpine; ".repeat(9);
  const { text } = createRedactor().redact(`${flags}mysql -u root -pn7R8wQz2v shop; ${flags}`);
  expect(text).toBe(`${flags}mysql -u root -p«redacted:flag-password» shop; ${flags}`);
});
