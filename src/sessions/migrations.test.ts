import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

it("is numbered from 1 and carries the digest of each step", () => {
  expect(migrations.map(({ version, sha256 }) => ({ version, sha256 }))).toEqual(
    migrations.map(({ sql }, index) => ({ version: index + 1, sha256: hash("sha256", sql) })),
  );
});

it("keeps the steps that have shipped", () => {
  expect(migrations[0]?.sha256).toBe("4b68a1e01a9d495480bce01ea289b3f6331e5a4402adc3005f07bf326e504b0d");
});
