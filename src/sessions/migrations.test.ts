import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

it("is numbered from 1 and carries the digest of each step", () => {
  expect(migrations.map(({ version, sha256 }) => ({ version, sha256 }))).toEqual(
    migrations.map(({ sql }, index) => ({ version: index + 1, sha256: hash("sha256", sql) })),
  );
});

it("keeps the steps that have shipped", () => {
  expect(migrations[0]?.sha256).toBe("2b5979ced3e3582dc11ee71b9233ab25c0f9580039db6cc4073fd5f99d582615");
});
