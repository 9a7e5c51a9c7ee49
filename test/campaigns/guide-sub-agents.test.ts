import { testGuide } from "../fakes/guide-test.ts";

testGuide("sub-agents", { minCommands: 5, says: "pong\n" });
