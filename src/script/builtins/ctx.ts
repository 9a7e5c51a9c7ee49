/** `ctx`: values of the turn, over those the run was started with. Conditions only look. */
import { textOf } from "../arguments.ts";
import { everyone, module, row, scripts } from "./definition.ts";

export const ctx = module("ctx", "Values of the turn and of the run (`--set`)", everyone, [
  row("get(key, default?=None)", "value", "The value, or `default` when there is none.").runs((args, call) => {
    const key = textOf(args, "key");
    const { values } = call;
    return values.has(key) ? values.get(key) : args.default;
  }),
  row("has(key)", "bool", "Whether the key has a value.").runs((args, call) => call.values.has(textOf(args, "key"))),
  row("snapshot()", "dict", "All values.").runs((_args, call) => call.values.snapshot()),
  row(
    "set(key, value)",
    "None",
    "Sets the value until the turn ends. Conditions see it from the next step on. It must be valid as JSON.",
    { audience: scripts },
  ).runs((args, call) => call.values.set(textOf(args, "key"), args.value)),
  row("delete(key)", "None", "Removes the value until the turn ends.", { audience: scripts }).runs((args, call) =>
    call.values.delete(textOf(args, "key")),
  ),
  row("clear()", "None", "Undoes all changes that the turn has made.", {
    audience: scripts,
  }).runs((_args, call) => call.values.clear()),
]);
