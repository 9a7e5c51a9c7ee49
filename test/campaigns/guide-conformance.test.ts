/** The page about conformance runs the whole suite several times; `test/e2e/conformance-command.test.ts` has the quick part. */
import { testGuide } from "../fakes/guide-test.ts";

testGuide("conformance", { minCommands: 10 });
