/** Known secrets are found in every form in which they are usually written down. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fingerprintSecret } from "#base";
import { createRedactor, literalsFromEnvironment } from "./index.ts";

const secret = 'c0rrect horse/+battery"ß?';
const redactor = createRedactor({ literals: [{ value: secret }] });
const forms: readonly (readonly [string, string])[] = [
  ["plain", secret],
  ["JSON", JSON.stringify(secret).slice(1, -1)],
  ["URL", encodeURIComponent(secret)],
  ["form", encodeURIComponent(secret).replaceAll("%20", "+")],
  ["hex", Buffer.from(secret).toString("hex")],
  ["upper case hex", Buffer.from(secret).toString("hex").toUpperCase()],
  ["base64", Buffer.from(secret).toString("base64")],
  ["base64url", Buffer.from(secret).toString("base64url")],
];

describe("a known secret", () => {
  test.each(forms)("is found as %s", (_, form) => {
    expect(redactor.redact(`before ${form} after`).text).toContain("«redacted:known-secret»");
    expect(redactor.redact(`x${form}y`).text).not.toContain(form.slice(2, -3));
  });

  test("is found in base64 whatever is encoded before and behind it", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), fc.boolean(), (before, behind, url) => {
        const encoded = Buffer.from(before + secret + behind).toString(url ? "base64url" : "base64");
        const { text, counts } = redactor.redact(`data: ${encoded}`);
        expect(counts).toEqual({ "known-secret": 1 });
        const left = Buffer.from(text.replace(/«.*»/, "").slice(6), "base64").toString("latin1");
        expect(left).not.toContain("horse");
      }),
    );
  });

  test("has the kind that is given for it", () => {
    const named = createRedactor({ literals: [{ value: "a-very-secret-value", kind: "openai-account" }] });
    expect(named.redact("it is a-very-secret-value").text).toBe("it is «redacted:openai-account»");
  });

  test("of several lines is found line by line", () => {
    const lines = "first line of the secret\nsecond line of the secret";
    const many = createRedactor({ literals: [{ value: lines }] });
    expect(many.redact("> second line of the secret").text).toBe("> «redacted:known-secret»");
  });

  test("that is too short or too plain is not looked for, and that is told", () => {
    const weak = createRedactor({ literals: [{ value: "abc" }, { value: "aaaaaaaaaaaa" }, { value: "long enough" }] });
    expect(weak.redact("abc aaaaaaaaaaaa").text).toBe("abc aaaaaaaaaaaa");
    expect(weak.status().literals).toEqual({ active: 1, skipped: 2 });
  });

  test("is found among many others with the same beginning", () => {
    const values = Array.from({ length: 200 }, (_, at) => ({ value: `sk-shared-prefix-${at}-${at * 7919}` }));
    const many = createRedactor({ literals: values });
    const text = values.map(({ value }) => value).join(" ");
    expect(many.redact(text).text.replaceAll("«redacted:known-secret»", "").trim()).toBe("");
  });
});

test("secrets are taken from the environment by the names of variables", () => {
  const env = {
    OPENAI_API_KEY: "the key",
    DB_PASSWORD: "the password",
    house_token: "the token",
    SPECIAL: "the special one",
    PATH: "/usr/bin",
    PWD: "/home/ada",
    SSH_AUTH_SOCK: "/run/ssh",
    TLS_KEY: "/etc/tls.key",
    EMPTY_TOKEN: "",
  };
  expect(literalsFromEnvironment(env, ["SPECIAL"]).map(({ value }) => value)).toEqual([
    "the key",
    "the password",
    "the token",
    "the special one",
  ]);
});

test.each([
  ["TOKEN_GITHUB", "correct-horse-41", ["correct-horse-41"]],
  ["API_KEY_PROD", "correct-horse-41", ["correct-horse-41"]],
  ["GITHUB_PAT", "correct-horse", ["correct-horse"]],
  ["SLACK_WEBHOOK_URL", "https://a.test/hook/x1", ["https://a.test/hook/x1"]],
  ["DATABASE_URL", "postgres://u:tall%40ships9@db:5432/x", ["tall%40ships9", "tall@ships9"]],
  ["REDIS_URL", "redis://:tall-ships-9@db", ["tall-ships-9"]],
  ["HTTP_PROXY", "http://proxy.test:3128", []],
  ["TOKEN_URL", "https://a.test/token1", []],
  ["PASSWORD_MIN_LENGTH", "12345678", []],
  ["TOKEN_STYLE", "opaque-bearer", []],
  ["COMPAT", "correct-horse-41", []],
  ["HARNESS_SECRET_DEPLOY", "opensesame", ["opensesame"]],
  ["HARNESS_SECRET_DEPLOY_NAME", "open-sesame", ["open-sesame"]],
])("%s=%s holds %j", (name, value, secrets) => {
  expect(literalsFromEnvironment({ [name]: value }).map((literal) => literal.value)).toEqual(secrets);
});

describe("a secret that only its fingerprint is known of", () => {
  const VALUE = "correct-horse/battery+staple";

  function learned() {
    const redactor = createRedactor();
    redactor.learn(fingerprintSecret(Buffer.from(VALUE))!);
    return redactor;
  }

  test.each([
    ["as it is", VALUE],
    ["in hex", Buffer.from(VALUE).toString("hex")],
    ["URL-encoded", encodeURIComponent(VALUE)],
    ["in base64", Buffer.from(VALUE).toString("base64").replace(/=+$/, "")],
  ])("is found %s", (_, form) => {
    expect(createRedactor().redact(`see ${form} here`).text).toContain(form);
    expect(learned().redact(`see ${form} here`).text).toBe("see «redacted:known-secret» here");
  });

  test("is found when it is cut anywhere in a stream", () => {
    for (let at = 1; at < VALUE.length; at++) {
      const stream = learned().createStreamRedactor();
      const text = `see ${VALUE} here`;
      const out = stream.push(text.slice(0, 4 + at)) + stream.push(text.slice(4 + at)) + stream.flush();
      expect(out).toBe("see «redacted:known-secret» here");
    }
  });

  test("is found in what was clean before it was known", () => {
    const redactor = createRedactor();
    expect(redactor.redactJson({ note: VALUE }).value).toEqual({ note: VALUE });
    redactor.learn(fingerprintSecret(Buffer.from(VALUE))!);
    expect(redactor.redactJson({ note: VALUE }).value).toEqual({ note: "«redacted:known-secret»" });
  });
});
