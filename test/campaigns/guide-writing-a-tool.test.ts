import { testGuide } from "../fakes/guide-test.ts";

testGuide("writing-a-tool", { minCommands: 5, says: "pong\n" });
