import { testGuide } from "../fakes/guide-test.ts";

testGuide("first-governed-agent", {
  minCommands: 11,
  says: "Teapots are back in stock.\n",
  endsIn: "examples/reporter",
});
