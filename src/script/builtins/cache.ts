/** `cache`: values that outlive a turn, kept for the run, forgotten with the process. */
import { textOf } from "../arguments.ts";
import { type ModuleRow, scripts } from "./definition.ts";

export const cache: ModuleRow = {
  name: "cache",
  meaning: "Values kept for the run",
  audience: scripts,
  functions: [
    {
      name: "set",
      params: "key, value",
      returns: "None",
      meaning: "Keeps a copy of the value, which JSON must be able to hold. A full cache forgets what came first.",
      run: (args, call) => call.state.cache.set(textOf(args, "key"), args.value),
    },
    {
      name: "get",
      params: "key, default?=None",
      returns: "value",
      meaning: "The value, or `default` when there is none.",
      run(args, call) {
        const key = textOf(args, "key");
        return call.state.cache.has(key) ? call.state.cache.get(key) : args.default;
      },
    },
    {
      name: "has",
      params: "key",
      returns: "bool",
      meaning: "Is there a value?",
      run: (args, call) => call.state.cache.has(textOf(args, "key")),
    },
    {
      name: "delete",
      params: "key",
      returns: "None",
      meaning: "Forgets the value.",
      run: (args, call) => call.state.cache.delete(textOf(args, "key")),
    },
    {
      name: "clear",
      params: "",
      returns: "None",
      meaning: "Forgets all.",
      run: (_args, call) => call.state.cache.clear(),
    },
  ],
};
