/**
 * Tools that are too many to send with every request: a menu of names, a tool that searches them and one that hands over their
 * schemas. A tool that was described is offered like any other from the next step on.
 */
import type { McpServer } from "#artifacts";
import { objectSchema, once } from "#base";
import { type Tool, ToolError, textOutput } from "#engine";
import { createToolSearch } from "./tool-search.ts";

const MAX_EAGER_TOOLS = 20;
/** Of the menu, over all servers. */
const MAX_MENU_BYTES = 4 * 1024;
const MAX_LINE_CHARS = 100;
const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 50;
const MAX_DESCRIBED = 10;
const MAX_DESCRIPTION_BYTES = 128 * 1024;

export interface LazyServer {
  readonly name: string;
  readonly tools: readonly Tool[];
}

export function isLazy({ discovery }: McpServer, toolCount: number): boolean {
  return discovery === "lazy" || (discovery === "auto" && toolCount > MAX_EAGER_TOOLS);
}

/** None when no server has deferred tools. `onDescribed` is told the names whose schemas the model has now. */
export function discoveryTools(
  servers: readonly LazyServer[],
  onDescribed: (names: readonly string[]) => void,
): readonly Tool[] {
  if (servers.every(({ tools }) => tools.length === 0)) return [];
  const all = servers.flatMap(({ tools }) => tools);
  return [searchTool(servers, all), describeTool(all, onDescribed)];
}

function searchTool(servers: readonly LazyServer[], all: readonly Tool[]): Tool {
  const index = once(() => createToolSearch(all));
  return {
    name: "mcp.search",
    label: "SearchTools",
    class: "read_only",
    fresh: true,
    description: `Search the tools of MCP servers by keyword. mcp.describe gives their schemas. Available:\n${menu(servers)}`,
    parameters: objectSchema(
      {
        query: { type: "string", maxLength: 500 },
        limit: { type: "integer", minimum: 1, maximum: MAX_RESULTS },
      },
      ["query"],
    ),
    async run({ query, limit }) {
      const found = index().find(String(query), typeof limit === "number" ? limit : DEFAULT_RESULTS);
      return textOutput(found.length === 0 ? "No tool matches." : found.map(line).join("\n"));
    },
  };
}

function describeTool(all: readonly Tool[], onDescribed: (names: readonly string[]) => void): Tool {
  const byName = new Map(all.map((tool) => [tool.name, tool]));
  return {
    name: "mcp.describe",
    label: "DescribeTools",
    class: "read_only",
    fresh: true,
    description: "Get the full description and input schema of tools of MCP servers, by their names.",
    parameters: objectSchema(
      { names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: MAX_DESCRIBED } },
      ["names"],
    ),
    async run({ names }) {
      const wanted = Array.isArray(names) ? names.map(String) : [];
      const found = wanted.flatMap((name) => byName.get(name) ?? []);
      if (found.length === 0) throw new ToolError(`No such tool: ${wanted.join(", ")}. Find names with mcp.search.`);
      const texts: string[] = [];
      let bytesLeft = MAX_DESCRIPTION_BYTES;
      for (const { name, description, parameters } of found) {
        const text = JSON.stringify({ name, description, parameters });
        bytesLeft -= Buffer.byteLength(text);
        if (bytesLeft >= 0 || texts.length === 0) texts.push(text);
      }
      onDescribed(found.slice(0, texts.length).map(({ name }) => name));
      const unknown = wanted.filter((name) => !byName.has(name));
      const left = found.slice(texts.length).map(({ name }) => name);
      if (unknown.length > 0) texts.push(`No such tool: ${unknown.join(", ")}`);
      if (left.length > 0) texts.push(`Ask again for: ${left.join(", ")}`);
      return textOutput(texts.join("\n"));
    },
  };
}

/** A line for each tool of those servers that fit, a line for each of the others. */
function menu(servers: readonly LazyServer[]): string {
  const short = servers.map(({ name, tools }) => `${name}: ${tools.length} tools`);
  const parts = [...short];
  let bytes = Buffer.byteLength(short.join("\n"));
  servers.forEach(({ tools }, at) => {
    const whole = tools.map(line).join("\n");
    const more = Buffer.byteLength(whole) - Buffer.byteLength(short[at]!);
    if (bytes + more > MAX_MENU_BYTES) return;
    parts[at] = whole;
    bytes += more;
  });
  return parts.join("\n").slice(0, MAX_MENU_BYTES);
}

function line({ name, description }: Tool): string {
  const [first = ""] = description.replace(/^\[[^\]]*\] /, "").split("\n");
  return `${name}: ${first.slice(0, MAX_LINE_CHARS)}`;
}
