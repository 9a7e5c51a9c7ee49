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
  flag,
  integer,
  list,
  nearestTo,
  nested,
  type Reader,
  readTable,
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

export const parameterTable = defineTable({
  title: "Parameter",
  about: "One argument of a tool, under its name.",
  fields: {
    type: { type: parameterType, required: true, meaning: "What the model has to send." },
    description: { type: text(), meaning: "For the model: units, formats, bounds." },
    required: { type: flag, default: "`false`", meaning: "A call without it is refused before the script runs." },
    enum: { type: list(data, { min: 1, max: MAX_ENUM_VALUES }), meaning: "The only values it may have." },
  },
});

const parameters: FieldType<readonly ParameterSpec[]> = {
  shown: "a table of parameters",
  tables: [parameterTable],
  read(tree, reader) {
    if (tree.kind !== "map") {
      reader.report(wrongValue(tree, this.shown));
      return undefined;
    }
    if (tree.entries.length > MAX_PARAMETERS) {
      reader.report(error("wrong-length", tree.place, `A tool has at most ${MAX_PARAMETERS} parameters.`));
      return undefined;
    }
    return tree.entries.flatMap(({ key, keyPlace, value }): ParameterSpec[] => {
      if (!PARAMETER_NAME.test(key)) {
        reader.report(error("bad-name", keyPlace, `"${key.slice(0, 80)}" cannot be the name of a parameter.`));
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
          error("wrong-value", at("enum"), "Something in the list is a list or a table.", {
            expected: "texts, numbers, true or false",
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

export const toolTable = defineTable({
  title: "Tool",
  about:
    "A file `.harness/tools/NAME.md`, or an entry of `tools:` in `harness.md`, a bundle or an agent. In a file the name is the file's and the body is the description.",
  fields: {
    name: {
      type: words("a name"),
      meaning:
        "Required in an entry of `tools:`; in a file the file name is the name. Those of built-in tools are taken, and all that begin with `fs.`, `web.`, `task.`, `meta.`, `delegation.` or `mcp.`.",
    },
    description: {
      type: text(),
      default: "the body, else the name",
      meaning: "What the model reads when it chooses a tool.",
    },
    parameters: {
      type: parameters,
      default: "none",
      meaning: "What the tool takes, in the order in which the model is shown it.",
    },
    script: {
      type: script,
      meaning: "Starlark with `def run(args)`. Without it the tool is declared only, and the program has to supply it.",
    },
    timeout_ms: {
      type: integer(0, MAX_TOOL_TIMEOUT_MS),
      default: "no cap of its own",
      meaning: "How long one call may take; `0` is no cap of its own.",
    },
    async: {
      type: flag,
      default: "`false`",
      meaning:
        "A call does not hold up those behind it in the same response; all have ended before the model is asked again.",
    },
  },
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
      ? `There is a built-in tool with the name "${name}".`
      : `"${name}" cannot be the name of a tool: names with "${name.split(".")[0]}." before them are those of built-in ones.`;
    reader.report(error("duplicate-name", values.name === undefined ? place : at("name"), message));
  }
  if (given !== undefined && given.body !== "" && values.description !== undefined) {
    reader.report(
      warning("ignored-key", at("description"), "The body of the file is the description; this one is not used."),
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
      reader.report(error("missing-key", place, `${kind}: "name" is missing.`, { expected: "a name" }));
      return undefined;
    }
    return checkedName(written, writtenAt, reader);
  }
  if (written !== undefined && written !== fileName) {
    const message = `The name of the file, "${fileName}", is the name; "${written}" is not used.`;
    reader.report(warning("ignored-key", writtenAt, message));
  }
  return checkedName(fileName, place, reader);
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
