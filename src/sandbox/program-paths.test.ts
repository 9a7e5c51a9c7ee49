import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createProgramPaths } from "./program-paths.ts";

function createPrograms() {
  const { root } = createTemporaryWorkspace();
  const [bin, other] = [join(root, "bin"), join(root, "other")];
  for (const folder of [bin, other]) mkdirSync(folder);
  const put = (name: string): string => {
    const file = join(bin, name);
    writeFileSync(file, "#!/bin/sh\n");
    chmodSync(file, 0o755);
    return file;
  };
  const clock = createManualClock();
  return { bin, other, put, clock, paths: createProgramPaths(`${bin}:${other}:relative`, clock) };
}

test("a program is found under each name that is the same file", () => {
  const { bin, other, put, paths } = createPrograms();
  const file = put("harness-perl");
  put("harness-else");
  linkSync(file, join(bin, "harness-perl5.36.0"));
  linkSync(file, join(other, "p"));
  symlinkSync(file, join(other, "harness-link"));
  const all = [file, join(bin, "harness-perl5.36.0"), join(other, "p")];
  expect(paths("harness-perl").toSorted()).toEqual(all.toSorted());
  expect(paths("harness-link").toSorted()).toEqual(all.toSorted());
  expect(paths(file).toSorted()).toEqual(all.toSorted());
  expect(paths("harness-else")).toEqual([join(bin, "harness-else")]);
  expect(paths("no-such-program")).toEqual([]);
  expect(paths("relative/p")).toEqual([]);
});

test("a name of a program that is many programs takes no other name with it", () => {
  const { bin, put, paths } = createPrograms();
  const file = put("busybox");
  linkSync(file, join(bin, "harness-vi"));
  symlinkSync(file, join(bin, "harness-ed"));
  expect(paths("harness-vi")).toEqual([join(bin, "harness-vi")]);
  expect(paths("harness-ed")).toEqual([]);
});

test("the folders are listed again after a minute", async () => {
  const { bin, put, clock, paths } = createPrograms();
  const file = put("harness-perl");
  linkSync(file, join(bin, "a"));
  expect(paths("harness-perl")).toHaveLength(2);
  linkSync(file, join(bin, "b"));
  expect(paths("harness-perl")).toHaveLength(2);
  await clock.advance(60_000);
  expect(paths("harness-perl")).toHaveLength(3);
});
