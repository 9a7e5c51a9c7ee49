import { testGuide } from "../../fakes/guide-test.ts";

testGuide("conformance", { minCommands: 10 });
