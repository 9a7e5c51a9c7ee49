/**
 * Arguments that a tool wants repeated as HTTP headers (`x-mcp-header`). The specification has clients leave out a tool whose declarations
 * break its rules; the SDK does so only in a list that it reads itself.
 */
import { isRecord } from "#base";

const KEY = "x-mcp-header";
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);
/** What they hold is data, not a schema. */
const DATA = new Set(["const", "default", "enum", "examples"]);

/** Undefined for a schema whose declarations can be used, or that has none. Its depth must have been checked. */
export function headerFault(inputSchema: Readonly<Record<string, unknown>>): string | undefined {
  const seen = new Set<string>();

  function visit(schema: unknown, isProperty: boolean, isReachable: boolean): string | undefined {
    if (Array.isArray(schema)) return first(schema, (branch) => visit(branch, false, false));
    if (!isRecord(schema)) return undefined;
    const fault = KEY in schema ? declarationFault(schema, isProperty && isReachable) : undefined;
    if (fault !== undefined) return fault;
    return first(Object.entries(schema), ([keyword, value]) => {
      if (DATA.has(keyword) || keyword === KEY) return undefined;
      if (keyword !== "properties" || !isRecord(value)) return visit(value, false, false);
      return first(Object.values(value), (property) => visit(property, true, isReachable));
    });
  }

  function declarationFault(
    { [KEY]: name, type }: Readonly<Record<string, unknown>>,
    isAllowed: boolean,
  ): string | undefined {
    if (!isAllowed) return `${KEY} is only allowed on plain properties`;
    if (typeof name !== "string" || !TOKEN.test(name)) return `${KEY} is not the name of a header`;
    if (!TYPES.has(type)) return `${KEY} needs a text, an integer or a boolean`;
    if (seen.has(name.toLowerCase())) return `${KEY} names the same header twice`;
    seen.add(name.toLowerCase());
    return undefined;
  }

  return visit(inputSchema, false, true);
}

function first<Item>(items: readonly Item[], check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = check(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
