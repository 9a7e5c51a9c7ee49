import { testGuide } from "../../fakes/guide-test.ts";

testGuide("evals", { minCommands: 5, says: "pong\n" });
