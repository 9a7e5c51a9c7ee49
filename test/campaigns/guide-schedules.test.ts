import { testGuide } from "../fakes/guide-test.ts";

testGuide("schedules", { minCommands: 10 });
