/** Names of files from a few letters, from a list that is kept for some seconds. */
import { expect, test } from "vitest";
import type { ClientId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { bestPaths, createPathCompletion } from "./path-completion.ts";

test("the beginning of a path comes first, then of a name, then letters inside, then letters apart", () => {
  const paths = ["docs/a-parser.md", "src/deep/parse.ts", "parse.txt", "lib/sparse/x.ts", "p/a/r/s/e", "other.ts"];
  expect(bestPaths(paths, "parse")).toEqual([
    "parse.txt",
    "src/deep/parse.ts",
    "docs/a-parser.md",
    "lib/sparse/x.ts",
    "p/a/r/s/e",
  ]);
  expect(bestPaths(paths, "SDP")).toEqual(["src/deep/parse.ts"]);
});

test("the workspace is walked once in five seconds, and again after a failure", async () => {
  const clock = createManualClock();
  let walks = 0;
  const complete = createPathCompletion({
    clock,
    async list() {
      walks += 1;
      if (walks === 1) throw new Error("no");
      return [`file-${walks}`, "hidden"];
    },
    nameable: () => (path) => path !== "hidden",
  });
  const by = "cli_a" as ClientId;
  await expect(complete("", 10, by)).rejects.toThrow("no");
  expect(await complete("", 10, by)).toEqual(["file-2"]);
  expect(await complete("hid", 10, by)).toEqual([]);
  await clock.advance(5_000);
  expect(await complete("f", 10, by)).toEqual(["file-3"]);
});
