/** `ctx`: values of the turn, over those the run was started with. Conditions only look. */
import { textOf } from "../arguments.ts";
import { everyone, type ModuleRow, scripts } from "./definition.ts";

export const ctx: ModuleRow = {
  name: "ctx",
  meaning: "Values of the turn and of the run (`--set`)",
  audience: everyone,
  functions: [
    {
      name: "get",
      params: "key, default?=None",
      returns: "value",
      meaning: "The value, or `default` when there is none.",
      run(args, call) {
        const key = textOf(args, "key");
        const { values } = call;
        return values.has(key) ? values.get(key) : args.default;
      },
    },
    {
      name: "has",
      params: "key",
      returns: "bool",
      meaning: "Is there a value?",
      run: (args, call) => call.values.has(textOf(args, "key")),
    },
    {
      name: "snapshot",
      params: "",
      returns: "dict",
      meaning: "All values.",
      run: (_args, call) => call.values.snapshot(),
    },
    {
      name: "set",
      params: "key, value",
      audience: scripts,
      returns: "None",
      meaning:
        "Sets the value until the turn ends; conditions see it from the next step on. JSON must be able to hold it.",
      run: (args, call) => call.values.set(textOf(args, "key"), args.value),
    },
    {
      name: "delete",
      params: "key",
      audience: scripts,
      returns: "None",
      meaning: "Takes the value away until the turn ends.",
      run: (args, call) => call.values.delete(textOf(args, "key")),
    },
    {
      name: "clear",
      params: "",
      audience: scripts,
      returns: "None",
      meaning: "Drops all that the turn has set.",
      run: (_args, call) => call.values.clear(),
    },
  ],
};
