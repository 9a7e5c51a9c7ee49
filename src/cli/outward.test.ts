/** What is shown outside of a session is redacted, or is not shown. */
import { expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createOutward } from "./outward.ts";

test("redaction that cannot be made is told as that, without what it stumbled over", async () => {
  const env = {
    get HOME(): string {
      throw new TypeError("ghp_Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi");
    },
  };
  const outward = createOutward({ env, cwd: "/", clock: createManualClock() });
  outward.use(defaultSettings);
  const failure = await outward.load().catch((error: unknown) => error);
  expect(failure).toMatchObject({ reason: "RedactionFailed" });
  expect(await outward.describe(failure)).toMatch(/^✗ RedactionFailed: .*an unexpected TypeError\.$/);
  expect(await outward.describe(new Error("token ghp_Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi"))).toBe("✗ InternalError");
});
