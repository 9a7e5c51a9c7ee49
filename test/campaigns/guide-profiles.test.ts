import { testGuide } from "../fakes/guide-test.ts";

testGuide("profiles", { minCommands: 5 });
