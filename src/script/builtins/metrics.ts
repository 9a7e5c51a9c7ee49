/** `metrics`: counters of the run, which whoever watches the program reads. */
import { numberOf, optionalText, textOf } from "../arguments.ts";
import { type ModuleRow, scripts } from "./definition.ts";

export const metrics: ModuleRow = {
  name: "metrics",
  meaning: "Counters of the run",
  audience: scripts,
  functions: [
    {
      name: "incr",
      params: "name, delta?=1",
      returns: "None",
      meaning: "Adds to a counter, which begins at 0.",
      run: (args, call) => call.state.metrics.incr(textOf(args, "name"), numberOf(args, "delta")),
    },
    {
      name: "set",
      params: "name, value",
      returns: "None",
      meaning: "Sets a counter, as a gauge.",
      run: (args, call) => call.state.metrics.set(textOf(args, "name"), numberOf(args, "value")),
    },
    {
      name: "get",
      params: "name",
      returns: "number",
      meaning: "The counter; 0 when nobody has counted.",
      run: (args, call) => call.state.metrics.get(textOf(args, "name")),
    },
    {
      name: "reset",
      params: "name?=None",
      returns: "None",
      meaning: "Forgets one counter, or all.",
      run: (args, call) => call.state.metrics.reset(optionalText(args, "name")),
    },
    {
      name: "snapshot",
      params: "",
      returns: "dict",
      meaning: "Every counter with its value.",
      run: (_args, call) => call.state.metrics.snapshot(),
    },
  ],
};
