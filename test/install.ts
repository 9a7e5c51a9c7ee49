/** Once for all tests that start the program: the program as users have it, built from the sources as they are now. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "./fakes/installed-package.ts";

/** Several projects of one run share the package of the first. */
export function setup(): (() => void) | undefined {
  if (process.env.HARNESS_TEST_PACKAGE !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "harness-package-"));
  installInto(folder);
  process.env.HARNESS_TEST_PACKAGE = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
