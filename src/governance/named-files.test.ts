import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { createWorkspaceFiles } from "#world";
import { whatCommandNames } from "./named-files.ts";

test("a command that is not understood names a bounded number of files", async () => {
  const words = Array.from({ length: 50_000 }, (_, index) => `w${index}`).join(" ");
  const { programs, files } = await whatCommandNames(`${words}; cd a; (`, ".", createWorkspaceFiles(tmpdir()));
  expect(programs.length).toBeLessThanOrEqual(2000);
  expect(files.size).toBeLessThanOrEqual(2000);
  expect(files.has("w0")).toBe(true);
});
