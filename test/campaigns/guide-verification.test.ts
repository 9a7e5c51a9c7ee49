import { testGuide } from "../fakes/guide-test.ts";

testGuide("verification", { minCommands: 5, says: "pong\n" });
