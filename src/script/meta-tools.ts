/** `meta.*` as tools of the model: the same registry that scripts reach, through the same chain as every call. */
import { messageOf, objectSchema } from "#base";
import { type HookPoint, type Tool, type ToolContext, ToolError, textOutput } from "#engine";
import { isRecord } from "./arguments.ts";
import { callDepth, nested } from "./call-depth.ts";
import { jsonText } from "./json-data.ts";
import { type MetaKind, RegistrationBlocked, type ScriptMeta } from "./services.ts";

const text = { type: "string" } as const;

export function metaTools(meta: ScriptMeta): readonly Tool[] {
  return [
    registering(meta, "tool", "Define a new tool with a Starlark script (def run(args)); usable from the next step.", {
      properties: {
        name: text,
        description: text,
        parameters: { type: "object", description: "Name to {type, description, required}." },
        script: text,
      },
      required: ["name", "description", "parameters", "script"],
    }),
    registering(meta, "hook", "Define a new hook with a Starlark script (def handle(event, payload)).", {
      properties: { name: text, event: text, script: text, when: text, priority: { type: "integer" } },
      required: ["name", "event", "script"],
    }),
    registering(meta, "agent", "Define a new sub-agent.", {
      properties: {
        name: text,
        description: text,
        prompt: text,
        model: text,
        tools: { type: "array", items: text },
      },
      required: ["name", "prompt"],
    }),
    {
      name: "meta.list_tools",
      label: "ListTools",
      class: "read_only",
      description: "List tools, all or those whose name matches a pattern such as fs.*.",
      parameters: objectSchema({ pattern: text }),
      run: async ({ pattern }) => textOutput(jsonText([...meta.listTools(typeof pattern === "string" ? pattern : "")])),
    },
    {
      name: "meta.call_tool",
      label: "CallTool",
      class: "mutating",
      description: "Call a tool by name.",
      parameters: objectSchema({ name: text, args: { type: "object" } }, ["name"]),
      subject: ({ name }) => String(name),
      async run({ name, args }, context) {
        if (callDepth() >= meta.maxCallDepth) {
          throw new ToolError(`Calls of tools nest at most ${meta.maxCallDepth} deep (meta.max_call_depth).`);
        }
        return nested(() => context.call(String(name), isRecord(args) ? args : {}));
      },
    },
  ];
}

function registering(
  meta: ScriptMeta,
  kind: MetaKind,
  description: string,
  schema: { readonly properties: Readonly<Record<string, unknown>>; readonly required: readonly string[] },
): Tool {
  return {
    name: `meta.register_${kind}`,
    label: `Register${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    class: "mutating",
    description,
    parameters: { type: "object", ...schema, additionalProperties: kind === "agent" },
    subject: ({ name }) => String(name),
    async run(args, context) {
      try {
        await meta.register(kind, args, pointOf(context));
      } catch (error) {
        if (error instanceof RegistrationBlocked) {
          context.annotate({ "tool.policy": "denied", "tool.deny.reason": error.hook });
          throw new ToolError(error.message, "HookBlocked");
        }
        throw new ToolError(messageOf(error));
      }
      return textOutput(jsonText({ registered: args.name }));
    },
  };
}

function pointOf({ session, turn, step, callId, depth, nesting, originator, signal }: ToolContext): HookPoint {
  return { session, turn, step, callId, depth, nesting, originator, signal };
}
