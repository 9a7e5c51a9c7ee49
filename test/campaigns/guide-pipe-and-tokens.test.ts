import { testGuide } from "../fakes/guide-test.ts";

testGuide("pipe-and-tokens", { minCommands: 5, says: "pong\n" });
