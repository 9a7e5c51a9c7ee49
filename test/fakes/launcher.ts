/** What starts the program in tests: of the installed package where `test/install.ts` has made one, else of the clone. */
import { join, resolve } from "node:path";

export const launcher = join(
  process.env.HARNESS_TEST_PACKAGE ?? resolve(import.meta.dirname, "../.."),
  "bin",
  "harness.cjs",
);
