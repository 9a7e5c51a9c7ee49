import { testGuide } from "../fakes/guide-test.ts";

testGuide("ci", { minCommands: 5, says: "pong\n" });
