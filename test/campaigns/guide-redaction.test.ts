import { testGuide } from "../fakes/guide-test.ts";

testGuide("redaction", { minCommands: 5, says: "pong\n" });
