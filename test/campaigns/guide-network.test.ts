import { testGuide } from "../fakes/guide-test.ts";

testGuide("network", { minCommands: 5, says: "pong\n" });
