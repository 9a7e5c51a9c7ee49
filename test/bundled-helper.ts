/** Once for all tests that need the credential helper: bundled as users have it, because the sources take four times as long to start. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { credentialHelper } from "../rolldown.config.ts";

/** Several projects of one run share the helper of the first. */
export async function setup(): Promise<(() => void) | undefined> {
  if (process.env.HARNESS_TEST_HELPER !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "harness-helper-"));
  await build({ ...credentialHelper, output: { ...credentialHelper.output, dir: folder } });
  process.env.HARNESS_TEST_HELPER = join(folder, "credential-helper.js");
  return () => rmSync(folder, { recursive: true, force: true });
}
