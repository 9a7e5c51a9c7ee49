import { testGuide } from "../fakes/guide-test.ts";

testGuide("shell-hooks", { minCommands: 2 });
