/** `metrics`: counters of the run, which whoever watches the program reads. */
import { numberOf, optionalText, textOf } from "../arguments.ts";
import { module, row, scripts } from "./definition.ts";

export const metrics = module("metrics", "Counters of the run", scripts, [
  row("incr(name, delta?=1)", "None", "Adds to a counter. Counters start at 0.").runs((args, call) =>
    call.state.metrics.incr(textOf(args, "name"), numberOf(args, "delta")),
  ),
  row("set(name, value)", "None", "Sets a counter, as a gauge.").runs((args, call) =>
    call.state.metrics.set(textOf(args, "name"), numberOf(args, "value")),
  ),
  row("get(name)", "number", "The value of the counter; 0 if it was never set.").runs((args, call) =>
    call.state.metrics.get(textOf(args, "name")),
  ),
  row("reset(name?=None)", "None", "Removes one counter, or all.").runs((args, call) =>
    call.state.metrics.reset(optionalText(args, "name")),
  ),
  row("snapshot()", "dict", "Every counter with its value.").runs((_args, call) => call.state.metrics.snapshot()),
]);
