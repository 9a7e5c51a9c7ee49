/** `cache`: values that outlive a turn, kept for the run, forgotten with the process. */
import { textOf } from "../arguments.ts";
import { module, row, scripts } from "./definition.ts";

export const cache = module("cache", "Values that a run keeps", scripts, [
  row(
    "set(key, value)",
    "None",
    "Stores a copy of the value, which must be valid as JSON. A full cache drops the oldest values.",
  ).runs((args, call) => call.state.cache.set(textOf(args, "key"), args.value)),
  row("get(key, default?=None)", "value", "The value, or `default` when there is none.").runs((args, call) => {
    const key = textOf(args, "key");
    return call.state.cache.has(key) ? call.state.cache.get(key) : args.default;
  }),
  row("has(key)", "bool", "Whether the key has a value.").runs((args, call) =>
    call.state.cache.has(textOf(args, "key")),
  ),
  row("delete(key)", "None", "Removes the value.").runs((args, call) => call.state.cache.delete(textOf(args, "key"))),
  row("clear()", "None", "Forgets all.").runs((_args, call) => call.state.cache.clear()),
]);
