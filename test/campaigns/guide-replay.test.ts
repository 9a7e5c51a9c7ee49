import { testGuide } from "../fakes/guide-test.ts";

testGuide("replay", { minCommands: 5, says: "pong\n" });
