/** Every event of the protocol is published by the sources, or is on the list of those that are not yet. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { events, reservedEvents, streamEvents } from "#protocol/schemas";

const root = resolve(import.meta.dirname, "../src");

/** The functions that put an event on a bus; `announce` and `record` are `publish` or `publishSoon`, by the class of a tool. */
const PUBLISHES =
  /\b(?:publish|publishSoon|announce|record)\(\s*"(\w+)"|\bnote\(\s*[\w.()]+,\s*"(\w+)"|\bpublishDelta\(\{\s*kind:\s*"(\w+)"/g;

test("an event that is not reserved is published somewhere, and a reserved one nowhere", () => {
  const published = new Set<string>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || /(?:\.test|-suite)\.ts$|^protocol[/\\]/.test(file)) continue;
    for (const [, a, b, c] of readFileSync(join(root, file), "utf8").matchAll(PUBLISHES))
      published.add(a ?? b ?? c ?? "");
  }
  const reserved = new Set<string>([...reservedEvents, ...streamEvents]);
  const expected = Object.keys(events).filter((kind) => !reserved.has(kind));
  expect([...published].toSorted()).toEqual(expected.toSorted());
});
