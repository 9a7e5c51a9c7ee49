/** `cache`: values that outlive a turn, kept for the run, forgotten with the process. */
import { textOf } from "../arguments.ts";
import { type ModuleRow, row, scripts } from "./definition.ts";

export const cache: ModuleRow = {
  name: "cache",
  meaning: "Values kept for the run",
  audience: scripts,
  functions: [
    row(
      "set(key, value)",
      "None",
      "Keeps a copy of the value, which JSON must be able to hold. A full cache forgets what came first.",
      (args, call) => call.state.cache.set(textOf(args, "key"), args.value),
    ),
    row("get(key, default?=None)", "value", "The value, or `default` when there is none.", (args, call) => {
      const key = textOf(args, "key");
      return call.state.cache.has(key) ? call.state.cache.get(key) : args.default;
    }),
    row("has(key)", "bool", "Is there a value?", (args, call) => call.state.cache.has(textOf(args, "key"))),
    row("delete(key)", "None", "Forgets the value.", (args, call) => call.state.cache.delete(textOf(args, "key"))),
    row("clear()", "None", "Forgets all.", (_args, call) => call.state.cache.clear()),
  ],
};
