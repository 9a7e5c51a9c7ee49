import { testGuide } from "../fakes/guide-test.ts";

testGuide("writing-a-policy", { minCommands: 5, says: "pong\n" });
