import { testGuide } from "../fakes/guide-test.ts";

testGuide("skills", { minCommands: 4 });
