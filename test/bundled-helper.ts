/** Once for all tests: the credential helper and the schema worker bundled as users have them, because the sources take four times as long to start. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "rolldown";
import { credentialHelper, schemaWorker } from "../rolldown.config.ts";

/** Several projects of one run share those of the first. */
export async function setup(): Promise<(() => void) | undefined> {
  if (process.env.HARNESS_TEST_HELPER !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "harness-helper-"));
  for (const options of [credentialHelper, schemaWorker]) {
    await build({ ...options, output: { ...options.output, dir: folder } });
  }
  process.env.HARNESS_TEST_HELPER = join(folder, "credential-helper.js");
  process.env.HARNESS_TEST_SCHEMA_WORKER = join(folder, "schema-worker.js");
  return () => rmSync(folder, { recursive: true, force: true });
}
