import { testGuide } from "../fakes/guide-test.ts";

testGuide("quickstart", { minCommands: 8, endsIn: "examples/quickstart" });
