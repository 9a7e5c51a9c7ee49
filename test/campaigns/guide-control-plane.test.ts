import { testGuide } from "../fakes/guide-test.ts";

testGuide("control-plane", { minCommands: 16 });
