import { testGuide } from "../../fakes/guide-test.ts";

testGuide("policy-backtest", { minCommands: 5, says: "pong\n" });
