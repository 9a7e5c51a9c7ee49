/** Programs that start others, asked about the options that their help names. The full run is `bench/wrapper-options.ts`. */
import { expect, test } from "vitest";
import { tryWrapperOptions } from "../fakes/wrapper-options.ts";

test.runIf(process.platform === "linux")(
  "what a wrapper starts behind any of its options, a deny rule sees",
  () => {
    const { started, passed } = tryWrapperOptions({ all: false });
    expect(passed).toEqual([]);
    expect(started).toBeGreaterThan(50);
  },
  180_000,
);
