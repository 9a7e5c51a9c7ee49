/** Tools: one table for a file in `tools/`, an entry of `tools:` in `harness.md`, in a bundle and in an agent. */
import { defined } from "#base";
import { factsOf, isReservedToolName } from "#tools";
import { checkedName } from "./artifact-name.ts";
import type { ParameterSpec, ToolArtifact } from "./project.ts";
import {
  data,
  defineTable,
  error,
  type FieldType,
  field,
  flag,
  integer,
  list,
  nearestTo,
  nested,
  type Reader,
  readTable,
  required,
  script,
  type TableValues,
  text,
  warning,
  words,
  wrongValue,
} from "./schema.ts";

/** An hour: longer than any call should be waited for. */
const MAX_TOOL_TIMEOUT_MS = 3_600_000;
const MAX_PARAMETERS = 100;
const MAX_ENUM_VALUES = 100;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/** Written → canonical. */
const PARAMETER_TYPES: Readonly<Record<string, ParameterSpec["type"]>> = {
  string: "string",
  number: "number",
  integer: "integer",
  int: "integer",
  boolean: "boolean",
  bool: "boolean",
  object: "object",
  array: "array",
};

const parameterType: FieldType<ParameterSpec["type"]> = {
  shown: "`string`, `number`, `integer` (`int`), `boolean` (`bool`), `object` or `array`",
  read(tree, reader) {
    const written = tree.kind === "scalar" ? String(tree.value) : "";
    const found = Object.hasOwn(PARAMETER_TYPES, written) ? PARAMETER_TYPES[written] : undefined;
    if (found === undefined) {
      reader.report({ ...wrongValue(tree, this.shown), ...nearestTo(written, Object.keys(PARAMETER_TYPES)) });
    }
    return found;
  },
};

export const parameterTable = defineTable("Parameter", "One argument of a tool, under its name.").of({
  type: required(parameterType).means("The type of the value."),
  description: field(text()).means("For the model: what the value means, its unit, format and limits."),
  required: field(flag, "`false`").means(
    "If true, Harness refuses a call without this argument before the script runs.",
  ),
  enum: field(list(data, { min: 1, max: MAX_ENUM_VALUES })).means("The allowed values."),
});

const parameters: FieldType<readonly ParameterSpec[]> = {
  shown: "a table of parameters",
  tables: [parameterTable],
  read(tree, reader) {
    if (tree.kind !== "map") return reader.report(wrongValue(tree, this.shown));
    if (tree.entries.length > MAX_PARAMETERS) {
      return reader.report(error("wrong-length", tree.place, `A tool has at most ${MAX_PARAMETERS} parameters.`));
    }
    return tree.entries.flatMap(({ key, keyPlace, value }): ParameterSpec[] => {
      if (!PARAMETER_NAME.test(key)) {
        reader.report(
          error(
            "bad-name",
            keyPlace,
            `"${key.slice(0, 80)}" cannot be the name of a parameter: use letters, digits, \`_\`, \`.\` and \`-\`, and start with a letter or \`_\`.`,
          ),
        );
        return [];
      }
      if (value.kind !== "map") {
        reader.report(wrongValue(value, "a table with `type`"));
        return [];
      }
      const { values, at } = readTable(parameterTable, value, reader);
      if (values.type === undefined) return [];
      const { description, required = false } = values;
      const choices = values.enum?.filter(isPlain);
      if (choices !== undefined && choices.length !== values.enum?.length) {
        reader.report(
          error("wrong-value", at("enum"), "The list contains a list or a table.", {
            expected: "text, numbers, true or false",
          }),
        );
      }
      return [
        {
          name: key,
          type: values.type,
          required,
          ...defined({ description, enum: choices }),
        },
      ];
    });
  },
};

export const toolTable = defineTable(
  "Tool",
  "A file `.harness/tools/NAME.md`, or an entry of `tools:` in `harness.md`, a bundle or an agent. For a file, the file name is the tool's name and the body is its description.",
).of({
  name: field(words("a name")).means(
    "Required in an entry of `tools:`. In a file, leave it out: the file name is used. The names of built-in tools are reserved, and so are all names that begin with `fs.`, `web.`, `task.`, `meta.`, `delegation.` or `mcp.`.",
  ),
  description: field(text(), "the body, else the name").means("What the model reads when it chooses a tool."),
  parameters: field(parameters, "none").means("The arguments of the tool, in the order in which the model sees them."),
  script: field(script).means(
    "Starlark with `def run(args)`. Without a script the tool is only declared, and an embedding program must provide it.",
  ),
  timeout_ms: field(integer(0, MAX_TOOL_TIMEOUT_MS), "`0`").means(
    "The time limit for one call, in milliseconds. `0` means that the tool has no limit of its own.",
  ),
  async: field(flag, "`false`").means(
    "If true, later calls of the same response do not wait for this one. All calls end before the next request to the model.",
  ),
});

/** What a file gives to its artifact besides the frontmatter. */
export interface FileGiven {
  readonly name: string;
  readonly body: string;
}

/** Undefined when it has no usable name. */
export function makeTool(
  { values, at, place }: TableValues<typeof toolTable.fields>,
  reader: Reader,
  given?: FileGiven,
): ToolArtifact | undefined {
  const name = artifactName("Tool", values.name, at("name"), place, reader, given?.name);
  if (name === undefined) return undefined;
  if (isReservedToolName(name)) {
    const message = factsOf(name)
      ? `A built-in tool already has the name "${name}".`
      : `"${name}" cannot be the name of a tool: names that begin with "${name.split(".")[0]}." are reserved for built-in tools.`;
    reader.report(error("duplicate-name", values.name === undefined ? place : at("name"), message));
  }
  if (given !== undefined && given.body !== "" && values.description !== undefined) {
    reader.report(
      warning(
        "ignored-key",
        at("description"),
        "This description is ignored: the body of the file is the description.",
      ),
    );
  }
  return {
    kind: "tool",
    name,
    place,
    hash: reader.hash,
    tier: reader.tier,
    description: given?.body || values.description?.trim() || name,
    parameters: values.parameters ?? [],
    async: values.async ?? false,
    ...defined({ script: values.script, timeoutMs: values.timeout_ms }),
  };
}

export const toolType: FieldType<ToolArtifact> = nested(toolTable, (read, reader) => makeTool(read, reader));

/** The name of the file, or the one that is written; a file that says something else is told that it has no effect. */
export function artifactName(
  kind: string,
  written: string | undefined,
  writtenAt: ToolArtifact["place"],
  place: ToolArtifact["place"],
  reader: Reader,
  fileName: string | undefined,
): string | undefined {
  if (fileName === undefined) {
    if (written === undefined) {
      return reader.report(error("missing-key", place, `${kind}: "name" is missing.`, { expected: "a name" }));
    }
    return checkedName(written, writtenAt, reader);
  }
  if (written !== undefined && written !== fileName) {
    const message = `The name "${written}" is ignored: the file name, "${fileName}", is the name.`;
    reader.report(warning("ignored-key", writtenAt, message));
  }
  return checkedName(fileName, place, reader);
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
