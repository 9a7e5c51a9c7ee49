/** `async`: calls of tools side by side, with an order where one is declared; all have ended when the script's own call ends. */
import { defined } from "#base";
import { optionalText, textsOf } from "../arguments.ts";
import { isFailed, type TaskResult } from "../async-tasks.ts";
import { nestedCall, resultText } from "../nested-call.ts";
import { type FunctionRow, module, row, toolsOnly } from "./definition.ts";

const launch = row(
  "launch(name, args?, id?=None, depends_on?=None, timeout_seconds?=None)",
  "string",
  "Starts a call of another tool and returns its id. The call runs after all calls in `depends_on` have succeeded; these are ids, also of calls that are launched later. A cycle is an error. Policy, hooks and permissions apply as for `meta.call_tool`.",
  { shown: "name, args={}, id=None, depends_on=[], timeout_seconds=None", effect: true, toolClass: "mutating" },
).runs(async (args, call) => {
  const run = nestedCall(args, call);
  const id = optionalText(args, "id");
  return call.tasks.launch({
    ...defined({ id }),
    dependsOn: [...textsOf(args, "depends_on")],
    run,
  });
});

function waiting(name: string, meaning: string, wait: FunctionRow["run"]): FunctionRow {
  return row(`${name}(ids)`, "dict", meaning, { effect: true, toolClass: "mutating" }).runs(wait);
}

export const async = module("async", "Parallel tool calls", toolsOnly, [
  launch,
  {
    ...waiting(
      "wait_all",
      "The results of all calls, in the order of the ids. Each result is `{id, result, is_error}`.",
      async (args, call) => (await call.tasks.waitAll(textsOf(args, "ids"))).map(shown),
    ),
    returns: "list",
  },
  waiting("wait_any", "The result of the first call that ends. The others continue.", async (args, call) =>
    shown(await call.tasks.waitAny(textsOf(args, "ids"), false)),
  ),
  waiting("race", "The result of the first call that ends. The others are cancelled.", async (args, call) =>
    shown(await call.tasks.waitAny(textsOf(args, "ids"), true)),
  ),
]);

function shown(result: TaskResult): Record<string, unknown> {
  const { id, output, problem } = result;
  return { id, result: output === undefined ? (problem ?? "") : resultText(output), is_error: isFailed(result) };
}
