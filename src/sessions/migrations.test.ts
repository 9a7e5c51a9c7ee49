import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

it("is numbered from 1 and carries the digest of each step", () => {
  expect(migrations.map(({ version, sha256 }) => ({ version, sha256 }))).toEqual(
    migrations.map(({ sql }, index) => ({ version: index + 1, sha256: hash("sha256", sql) })),
  );
});

it("keeps the steps that have shipped", () => {
  expect(migrations[0]?.sha256).toBe("74a0ad47e7550fa0562510c6b7dc9e7d52712fa0af084645d3bd810db17add7e");
});
