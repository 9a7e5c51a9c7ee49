/** `meta`: tools that know of tools. Everything it starts goes through the same chain as a call of the model. */
import { dictOf, integerOf, optionalText, textOf } from "../arguments.ts";
import { inputOf, nestedCall, registryOf, resultText } from "../nested-call.ts";
import { signalOf } from "../script-call.ts";
import type { MetaKind } from "../services.ts";
import { type Arguments, alias, type FunctionRow, module, row, scripts, toolsOnly } from "./definition.ts";

function registering(
  kind: MetaKind,
  params: string,
  shown: string,
  meaning: string,
  fieldsOf: (args: Arguments) => Readonly<Record<string, unknown>>,
): FunctionRow {
  return row(`register_${kind}(${params})`, "None", meaning, {
    shown,
    audience: toolsOnly,
    effect: true,
    toolClass: "mutating",
  }).runs(async (args, call, host) => {
    await registryOf(call).register(kind, inputOf(fieldsOf(args)), { ...call.parts.point, signal: signalOf(host) });
    return null;
  });
}

const registerTool = registering(
  "tool",
  "name, description, parameters, script",
  "name, description, parameters, script",
  "Registers a tool. Harness checks it like a tool in a file. The model sees it from the next step on.",
  (args) => ({
    name: textOf(args, "name"),
    description: textOf(args, "description"),
    parameters: dictOf(args, "parameters"),
    script: textOf(args, "script"),
  }),
);

const registerHook = registering(
  "hook",
  'name, event, script, when?="", priority?=20',
  'name, event, script, when="", priority=20',
  "Registers a hook. Harness checks it like a hook in a file.",
  (args) => ({
    name: textOf(args, "name"),
    event: textOf(args, "event"),
    script: textOf(args, "script"),
    priority: integerOf(args, "priority"),
    ...(textOf(args, "when") !== "" && { when: textOf(args, "when") }),
  }),
);

const registerAgent = registering(
  "agent",
  "name, **fields",
  "name, **fields",
  "Registers an agent. `fields` are the fields of an agent file, `prompt` is its body.",
  (args) => ({ ...dictOf(args, "fields"), name: textOf(args, "name") }),
);

export const meta = module("meta", "Listing, calling and registering tools, if `meta.enabled` is set", scripts, [
  row(
    'list_tools(pattern?="")',
    "list",
    "`{name, description}` of each tool; with a pattern (`fs.*`) only of those whose name matches.",
  ).runs((args, call) =>
    [...registryOf(call).listTools(optionalText(args, "pattern") ?? "")].map((tool) => ({ ...tool })),
  ),
  row(
    "call_tool(name, args?, timeout_seconds?=None)",
    "string",
    "The result of another tool, as the model would read it. Policy, hooks and permissions apply. If Harness refuses the call, the result is the text of the refusal.",
    { shown: "name, args={}, timeout_seconds=None", effect: true, toolClass: "mutating" },
  ).runs(async (args, call) => {
    registryOf(call); // throws where it is not enabled
    return resultText(await nestedCall(args, call)());
  }),
  registerTool,
  registerHook,
  registerAgent,
  alias("tool_register", registerTool),
  alias("hook_register", registerHook),
  alias("agent_register", registerAgent),
]);
