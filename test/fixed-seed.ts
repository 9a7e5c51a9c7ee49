/** Property tests see the same cases in every run, so that a failure is a change and not luck. Longer campaigns vary it. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_261_115) });
