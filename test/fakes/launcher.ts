/** What starts the program in tests: of the installed package where `test/install.ts` has made one, else of the clone. */
import { join, resolve } from "node:path";

const installed = process.env.HARNESS_TEST_PACKAGE;

export const launcher = join(installed ?? resolve(import.meta.dirname, "../.."), "bin", "harness.cjs");

/**
 * For the environment of programs that have a home of their own: what one start has compiled serves all others. Empty in a
 * clone, where the program keeps its own cache in the home.
 */
export const sharedCompileCache: Readonly<Record<string, string>> =
  installed === undefined ? {} : { NODE_COMPILE_CACHE: join(installed, "compile-cache") };
