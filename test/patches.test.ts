/**
 * What a feature costs: each patch still applies to the sources, and touches at most four files that are there already.
 * `test/campaigns/patches.test.ts` runs what they add.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const MAX_TOUCHED = 4;
const root = resolve(import.meta.dirname, "..");
const folder = join(root, "test/patches");

test.each(readdirSync(folder))("%s applies and touches few files", (name) => {
  const file = join(folder, name);
  execFileSync("git", ["apply", "--check", file], { cwd: root });
  const parts = readFileSync(file, "utf8")
    .split(/^diff --git /m)
    .slice(1);
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.filter((part) => !/^new file mode/m.test(part)).length).toBeLessThanOrEqual(MAX_TOUCHED);
});
