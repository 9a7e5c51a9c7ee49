/** The tools of a server as it lists them, checked and bounded: what is refused is said once and does not hide the others. */
import { isRecord, visibleLine } from "#base";
import { schemaFault } from "./schema-limits.ts";

const MAX_TOOLS = 10_000;
const MAX_DESCRIPTION_CHARS = 2_048;
/** The characters that the specification recommends, and two that servers use besides. */
const TOOL_NAME = /^[A-Za-z0-9_.:/-]{1,128}$/;
const MAX_SHOWN_CHARS = 160;

/** Words and schemas are the server's own: untrusted. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

export interface ToolListReader {
  /** False when no further tool is read. */
  add(page: readonly unknown[]): boolean;
  tools(): readonly ListedTool[];
}

export function readTools(refuse: (text: string) => void): ToolListReader {
  const tools = new Map<string, ListedTool>();
  return {
    add(page) {
      for (const entry of page) {
        const tool = readTool(entry);
        if (typeof tool === "string") refuse(tool);
        else if (tools.has(tool.name)) refuse(`the tool ${tool.name} is listed twice; the first one is used`);
        else if (tools.size < MAX_TOOLS) tools.set(tool.name, tool);
        else {
          refuse(`it lists more than ${MAX_TOOLS} tools; the others are left out`);
          return false;
        }
      }
      return true;
    },
    tools: () => [...tools.values()],
  };
}

function readTool(entry: unknown): ListedTool | string {
  if (!isRecord(entry) || typeof entry.name !== "string") return "a tool without a name is left out";
  const { name, inputSchema, outputSchema } = entry;
  if (!TOOL_NAME.test(name)) {
    return `the tool ${visibleLine(name.slice(0, MAX_SHOWN_CHARS))} is left out: a name must have 1 to 128 of the characters A-Z a-z 0-9 _ - . : /`;
  }
  if (!isRecord(inputSchema)) return `the tool ${name} is left out: it has no input schema`;
  const fault = schemaFault(inputSchema);
  if (fault !== undefined) return `the tool ${name} is left out for its input schema: ${fault}`;
  const outputFault = isRecord(outputSchema) ? schemaFault(outputSchema) : undefined;
  if (outputFault !== undefined) return `the tool ${name} is left out for its output schema: ${outputFault}`;
  return {
    name,
    description: describe(entry),
    inputSchema,
    ...(isRecord(outputSchema) && { outputSchema }),
  };
}

function describe({ description, title }: Readonly<Record<string, unknown>>): string {
  const text = typeof description === "string" && description !== "" ? description : title;
  if (typeof text !== "string") return "";
  const visible = visibleText(text);
  return visible.length <= MAX_DESCRIPTION_CHARS ? visible : `${visible.slice(0, MAX_DESCRIPTION_CHARS)} […]`;
}

/** Without the characters that nobody sees; line feeds and tabs stay. */
function visibleText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, (found) => (/[\n\t]/.test(found) ? found : ""));
}

/** As the model gets it: names and values, too, without the characters that nobody sees. Arguments are checked against the original. */
export function visibleSchema<Schema>(schema: Schema): Schema {
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return visibleText(value);
    if (Array.isArray(value)) return value.map(walk);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [visibleText(name), walk(field)]));
  };
  // The same shape with other words.
  return walk(schema) as Schema;
}
