/** The real credential helper for a test, started when a key is needed and ended with the test. */
import { resolve } from "node:path";
import { onTestFinished } from "vitest";
import { createEnvironmentKeys, type HelperCredentials } from "#credentials";
import { programCredentials } from "../../src/program/credentials.ts";
import { createManualClock } from "./manual-clock.ts";

/** Of the bundle that `test/bundled-helper.ts` has made, else of the sources. */
export const helperFile =
  process.env.HARNESS_TEST_HELPER ?? resolve(import.meta.dirname, "../../src/credential-helper.ts");

export function testCredentials(env: Readonly<Record<string, string | undefined>> = {}): HelperCredentials {
  const left = { ...env };
  const credentials = programCredentials({
    env: left,
    keys: createEnvironmentKeys(left, undefined),
    clock: createManualClock(),
    file: helperFile,
  });
  onTestFinished(() => credentials.close());
  return credentials;
}
