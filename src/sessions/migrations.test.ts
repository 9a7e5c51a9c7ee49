import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

it("is numbered from 1 and carries the digest of each step", () => {
  expect(migrations.map(({ version, sha256 }) => ({ version, sha256 }))).toEqual(
    migrations.map(({ sql }, index) => ({ version: index + 1, sha256: hash("sha256", sql) })),
  );
});

it("keeps the steps that have shipped", () => {
  expect(migrations[0]?.sha256).toBe("c56e856bcee3c15858758701b57c5644b35bdf072073f3d902921560b4f0cfa3");
});
