import { testGuide } from "../fakes/guide-test.ts";

testGuide("memory", { minCommands: 8 });
