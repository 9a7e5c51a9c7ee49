/** A long page; `test/policy-backtest.test.ts` has the quick part. */
import { testGuide } from "../fakes/guide-test.ts";

testGuide("policy-backtest", { minCommands: 5, says: "pong\n" });
