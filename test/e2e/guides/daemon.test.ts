import { testGuide } from "../../fakes/guide-test.ts";

testGuide("daemon", { minCommands: 16 });
