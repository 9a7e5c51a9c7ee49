/** A long page; `test/example-projects.test.ts` has the quick part. */
import { testGuide } from "../fakes/guide-test.ts";

testGuide("governed-agent", {
  minCommands: 11,
  says: "Keep it simple.\n",
  from: "examples/governed-agent",
  endsIn: "examples/governed-agent",
});
