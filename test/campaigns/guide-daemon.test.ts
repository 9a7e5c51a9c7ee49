/** A long page; the commands that it runs have quick tests in `test/e2e/daemon*.test.ts`. */
import { testGuide } from "../fakes/guide-test.ts";

testGuide("daemon", { minCommands: 16 });
