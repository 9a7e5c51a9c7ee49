/** `delegate(task, …)`: work handed to another agent by a script, as the tool of that name does it for the model. */
import { jsonIn } from "#base";
import { dictOf, isRecord, textOf } from "../arguments.ts";
import { nested } from "../call-depth.ts";
import { inputOf, resultText } from "../nested-call.ts";
import { row, toolsOnly } from "./definition.ts";

export const delegate = row(
  'delegate(task, agent?="", **options)',
  "dict",
  "Gives a task to a sub-agent and waits for the result. This is a call of the [tool](tools.md) `delegate`, with the same policy, hooks and limits; `options` are its other arguments. The result has `status` (`ok`, `failed`, `cancelled`, `timeout`), and `result` or `error`.",
  { shown: 'task, agent="", **options', audience: toolsOnly, effect: true, toolClass: "mutating" },
).runs(async (args, call) => {
  const agent = textOf(args, "agent");
  const request = { ...dictOf(args, "options"), task: textOf(args, "task"), ...(agent === "" ? {} : { agent }) };
  const text = resultText(await nested(() => call.parts.callTool("delegate", inputOf(request), {})));
  return parsed(text) ?? { status: "failed", error: text };
});

/** A delegation that was refused is told in words. */
function parsed(text: string): unknown {
  const value = jsonIn(text);
  return isRecord(value) ? value : undefined;
}
