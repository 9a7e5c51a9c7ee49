import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { chainStart, contentHash, createSalts, eventHash } from "./evidence.ts";
import { NOW, sessionId } from "./store-suite.ts";

const sha256 = (...parts: (Buffer | string)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const salt = Buffer.from(Array.from({ length: 16 }, (_, i) => 255 - i));
const prev = chainStart(sessionId(1));

describe("the hashes", () => {
  it.each(["", "plain", "é\u{1f600}\u2028", "\ud800", "x".repeat(5000), "é".repeat(8000), "x".repeat(200_000)])(
    "are those of the written form, whatever the size",
    (payload) => {
      // What cannot be written as UTF-8 counts as the replacement character, as everywhere in Node.
      expect(contentHash(salt, payload)).toEqual(sha256(salt, Buffer.from(payload, "utf8")));
      const facts = { session: sessionId(1), id: 7, kind: payload, ts: NOW, originator: null };
      const written = JSON.stringify([facts.session, facts.id, facts.kind, facts.ts, facts.originator]);
      expect(eventHash(facts, prev, salt)).toEqual(sha256(prev, salt, written));
    },
  );

  it("begin with the name of the session", () => {
    expect(prev).toEqual(sha256(`harness-log-1\n${sessionId(1)}`));
  });
});

it("draws a fresh salt each time", () => {
  const nextSalt = createSalts();
  const salts = new Set(Array.from({ length: 600 }, () => nextSalt().toString("hex")));
  expect(salts.size).toBe(600);
});
