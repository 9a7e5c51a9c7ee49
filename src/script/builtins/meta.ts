/** `meta`: tools that know of tools. Everything it starts goes through the same chain as a call of the model. */
import type { ToolOutput } from "#engine";
import { dictOf, integerOf, optionalNumber, optionalText, textOf } from "../arguments.ts";
import { callDepth, nested } from "../call-depth.ts";
import { jsonData } from "../json-data.ts";
import { type ScriptCall, signalOf } from "../script-call.ts";
import type { MetaKind, ScriptMeta } from "../services.ts";
import { spanMs } from "../time-span.ts";
import { type Arguments, alias, type FunctionRow, type ModuleRow, scripts, toolsOnly } from "./definition.ts";

function registryOf(call: ScriptCall): ScriptMeta {
  const { meta } = call.services;
  if (meta === undefined) throw new Error("meta is not enabled: set meta.enabled in harness.md");
  return meta;
}

/** Throws where scripts may not call tools, or not that deep. */
export function checkCallDepth(call: ScriptCall): void {
  const { maxCallDepth } = registryOf(call);
  if (callDepth() < maxCallDepth) return;
  throw new Error(`calls of tools by scripts nest at most ${maxCallDepth} deep (meta.max_call_depth)`);
}

function registering(
  kind: MetaKind,
  params: string,
  shown: string,
  meaning: string,
  fieldsOf: (args: Arguments) => Readonly<Record<string, unknown>>,
): FunctionRow {
  return {
    name: `register_${kind}`,
    params,
    shown,
    audience: toolsOnly,
    effect: true,
    toolClass: "mutating",
    returns: "None",
    meaning,
    async run(args, call, host) {
      const fields = jsonData(fieldsOf(args)) as Readonly<Record<string, unknown>>;
      await registryOf(call).register(kind, fields, { ...call.parts.point, signal: signalOf(host) });
      return null;
    },
  };
}

const registerTool = registering(
  "tool",
  "name, description, parameters, script",
  "name, description, parameters, script",
  "Adds a tool, checked like one in a file; the model sees it from the next step on.",
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
  "Adds a hook, checked like one in a file.",
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
  "Adds an agent; `fields` are those of an agent file, `prompt` its text.",
  (args) => ({ ...dictOf(args, "fields"), name: textOf(args, "name") }),
);

export const meta: ModuleRow = {
  name: "meta",
  meaning: "Tools that know of tools, where `meta.enabled` is set",
  audience: scripts,
  functions: [
    {
      name: "list_tools",
      params: 'pattern?=""',
      returns: "list",
      meaning: "`{name, description}` of each tool; with a pattern (`fs.*`) only of those whose name matches.",
      run: (args, call) =>
        [...registryOf(call).listTools(optionalText(args, "pattern") ?? "")].map((tool) => ({ ...tool })),
    },
    {
      name: "call_tool",
      params: "name, args?, timeout_seconds?=None",
      shown: "name, args={}, timeout_seconds=None",
      effect: true,
      toolClass: "mutating",
      returns: "string",
      meaning:
        "The result of another tool, as the model would read it. Policy, hooks and permission hold; a refusal is the text of the result.",
      async run(args, call) {
        const name = textOf(args, "name");
        checkCallDepth(call);
        const seconds = optionalNumber(args, "timeout_seconds");
        const options = seconds === undefined ? {} : { timeoutMs: spanMs(seconds, 0) };
        const input = jsonData(dictOf(args, "args")) as Readonly<Record<string, unknown>>;
        return resultText(await nested(() => call.parts.callTool(name, input, options)));
      },
    },
    registerTool,
    registerHook,
    registerAgent,
    alias("tool_register", registerTool),
    alias("hook_register", registerHook),
    alias("agent_register", registerAgent),
  ],
};

/** The text blocks of a result; anything else is named. */
export function resultText({ content }: ToolOutput): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
