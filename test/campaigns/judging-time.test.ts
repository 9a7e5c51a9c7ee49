/** Every word on every program; `src/governance/shell/quiet.test.ts` has the quick part. */
import { expect, test } from "vitest";
import { slowToJudge } from "../fakes/judging-time.ts";

test("no input takes long to judge", () => {
  expect(slowToJudge(1)).toEqual([]);
});
