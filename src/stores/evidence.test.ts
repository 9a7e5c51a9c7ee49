import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeLink } from "../../test/fakes/tampering.ts";
import { NOW, sessionId } from "../../test/store-suite.ts";
import { chainStart, createSalts, type LinkedEvent, MAX_LINK_EVENTS, OpenLink } from "./evidence.ts";

const sha256 = (...parts: (Buffer | string)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};
const SALT = "ff".repeat(16);
const prev = chainStart(sessionId(1));
const event = (id: number, kind: string, payload: string, originator: string | null = null): LinkedEvent => ({
  id,
  kind,
  ts: NOW,
  originator,
  payload,
});

describe("a link", () => {
  it("hashes contents with their salt, and everything else with the hash of the contents", () => {
    const events = [
      event(7, "TextDelta", '{"text":"é\u{1f600}\u2028"}', "cli_x"),
      event(8, "TurnEnded", '{"turn":"t"}'),
      event(9, "TextDelta", '{"text":"b"}'),
    ];
    const content = sha256(`${SALT}\n${events[0]?.payload}\n${events[2]?.payload}\n`);
    const facts = `TextDelta\t${NOW}\tcli_x\t\nTurnEnded\t${NOW}\t\t{"turn":"t"}\nTextDelta\t${NOW}\t\t\n`;
    const hash = sha256(`harness-link-2\n${prev}\n${content}\n${sessionId(1)} 7 9\n${facts}`);
    expect(makeLink(sessionId(1), prev, events, () => SALT)).toEqual({ hash, content, salt: SALT });
  });

  it("has no salt when nothing in it can expire", () => {
    const link = makeLink(sessionId(1), prev, [event(1, "TurnEnded", "{}")], () => SALT);
    expect(link).toEqual({ hash: sha256(`harness-link-2\n${prev}\n\n${sessionId(1)} 1 1\nTurnEnded\t${NOW}\t\t{}\n`) });
  });

  it("begins with the name of the session", () => {
    expect(prev).toBe(sha256(`harness-log-1\n${sessionId(1)}`));
  });
});

it("ends a link with a turn, at its bounds and where an hour turns", () => {
  const sizes = (events: readonly LinkedEvent[]): number[] => {
    const open = new OpenLink();
    const found: number[] = [];
    let size = 0;
    const close = () => {
      open.close(sessionId(1), prev, () => SALT);
      found.push(size);
      size = 0;
    };
    for (const one of events) {
      if (!open.takes(one.ts)) close();
      size += 1;
      if (open.add(one)) close();
    }
    return size > 0 ? [...found, size] : found;
  };
  const delta = event(1, "TextDelta", "{}");
  const later = { ...delta, ts: "2026-01-01T01:00:00.000Z" };
  expect(sizes([delta, event(2, "TurnEnded", "{}"), delta])).toEqual([2, 1]);
  expect(sizes(Array<LinkedEvent>(MAX_LINK_EVENTS + 1).fill(delta))).toEqual([MAX_LINK_EVENTS, 1]);
  expect(sizes([delta, delta, later, delta])).toEqual([2, 1, 1]);
  expect(sizes([delta, event(2, "TextDelta", "x".repeat(2_000_000)), delta])).toEqual([2, 1]);
});

it("draws a fresh salt each time", () => {
  const nextSalt = createSalts();
  const salts = new Set(Array.from({ length: 600 }, () => nextSalt()));
  expect(salts.size).toBe(600);
  expect([...salts].every((salt) => /^[0-9a-f]{32}$/.test(salt))).toBe(true);
});
