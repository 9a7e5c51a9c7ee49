import { testGuide } from "../fakes/guide-test.ts";

testGuide("writing-context", { minCommands: 5, says: "pong\n" });
