import { expect, test } from "vitest";
import { BOX_EXTRA_BYTES, BOX_KEY_BYTES, openBox, sealBox } from "./sealed-box.ts";

const key = Buffer.alloc(BOX_KEY_BYTES, 7);

test("opens what was sealed, text or bytes, and no two boxes are alike", () => {
  const box = sealBox(key, "secret", "a");
  expect(openBox(key, box, "a")?.toString()).toBe("secret");
  expect(openBox(key, sealBox(key, Buffer.from([0, 255]), ""), "")).toEqual(Buffer.from([0, 255]));
  expect(box).toHaveLength(BOX_EXTRA_BYTES + 6);
  expect(box.includes("secret")).toBe(false);
  expect(sealBox(key, "secret", "a").equals(box)).toBe(false);
});

test("opens nothing that is not whole, under another key or another label", () => {
  const box = sealBox(key, "secret", "a");
  expect(openBox(key, box, "b")).toBeUndefined();
  expect(openBox(Buffer.alloc(BOX_KEY_BYTES), box, "a")).toBeUndefined();
  for (let at = 0; at < box.length; at += 1) {
    const altered = Buffer.from(box);
    altered[at] = (altered[at] ?? 0) ^ 1;
    expect(openBox(key, altered, "a"), `byte ${at}`).toBeUndefined();
    expect(openBox(key, box.subarray(0, at), "a"), `${at} bytes`).toBeUndefined();
  }
  expect(() => sealBox(Buffer.alloc(16), "x", "a")).toThrow(/key length/);
});
