/** Once for all end-to-end tests: the program as users have it, built from the sources as they are now. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "./fakes/installed-package.ts";

const folder = mkdtempSync(join(tmpdir(), "harness-package-"));

export function setup(): void {
  installInto(folder);
  process.env.HARNESS_TEST_PACKAGE = folder;
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
