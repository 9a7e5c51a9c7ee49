/** `ctx`: values of the turn, over those the run was started with. Conditions only look. */
import { textOf } from "../arguments.ts";
import { everyone, type ModuleRow, row, scripts } from "./definition.ts";

export const ctx: ModuleRow = {
  name: "ctx",
  meaning: "Values of the turn and of the run (`--set`)",
  audience: everyone,
  functions: [
    row("get(key, default?=None)", "value", "The value, or `default` when there is none.", (args, call) => {
      const key = textOf(args, "key");
      const { values } = call;
      return values.has(key) ? values.get(key) : args.default;
    }),
    row("has(key)", "bool", "Is there a value?", (args, call) => call.values.has(textOf(args, "key"))),
    row("snapshot()", "dict", "All values.", (_args, call) => call.values.snapshot()),
    row(
      "set(key, value)",
      "None",
      "Sets the value until the turn ends; conditions see it from the next step on. JSON must be able to hold it.",
      (args, call) => call.values.set(textOf(args, "key"), args.value),
      { audience: scripts },
    ),
    row(
      "delete(key)",
      "None",
      "Takes the value away until the turn ends.",
      (args, call) => call.values.delete(textOf(args, "key")),
      { audience: scripts },
    ),
    row("clear()", "None", "Drops all that the turn has set.", (_args, call) => call.values.clear(), {
      audience: scripts,
    }),
  ],
};
