/** A long page; `test/e2e/eval.test.ts` has the quick part. */
import { testGuide } from "../fakes/guide-test.ts";

testGuide("evals", { minCommands: 5, says: "pong\n" });
