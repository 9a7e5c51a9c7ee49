/** Rules that several programs keep at the same time are all kept. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseUserConfig } from "#artifacts";
import { createSystemClock } from "#world";
import { keepRule } from "./keep-rule.ts";

test("of rules that are kept at once none is lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "harness-rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "harness", "config.toml");
  const rules = ["a", "b", "c", "d"].map((name) => `Bash(${name} *)`);
  await Promise.all(rules.map((rule) => keepRule(file, createSystemClock(), rule)));
  const { settings } = await parseUserConfig(file, readFileSync(file, "utf8"));
  expect(settings.permissions.map(({ rule }) => rule).toSorted()).toEqual(rules);
});
