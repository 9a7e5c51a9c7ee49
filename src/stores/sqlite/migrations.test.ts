import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { migrations } from "./migrations.ts";

it("is numbered from 1 and carries the digest of each step", () => {
  expect(migrations.map(({ version, sha256 }) => ({ version, sha256 }))).toEqual(
    migrations.map(({ sql }, index) => ({ version: index + 1, sha256: hash("sha256", sql) })),
  );
});

it("keeps the steps that have shipped", () => {
  expect(migrations[0]?.sha256).toBe("67587bd332009e82efe2a2c2793897716acc6270b456c2c5d3740eb49f20d5aa");
});
