import { testGuide } from "../fakes/guide-test.ts";

testGuide("writing-a-hook", { minCommands: 5, says: "pong\n" });
