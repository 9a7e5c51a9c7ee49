/** Resources of servers as two tools: one lists them, one reads them. Offered where a server has any. */
import type { McpServer } from "#artifacts";
import {
  messageOf,
  objectSchema,
  READ_RESOURCE_TOOL,
  RESOURCES_TOOL,
  resourceReference,
  type ServerResource,
} from "#base";
import { type Tool, ToolError, textOutput } from "#engine";
import { toolOutput } from "./answer-output.ts";
import { answering } from "./answer-server.ts";
import { isResourceUri } from "./resource-list.ts";
import { MAX_ASKING_MS } from "./server-questions.ts";
import { available } from "./server-tools.ts";
import { createToolSearch } from "./tool-search.ts";

const DEFAULT_LISTED = 50;
const MAX_LISTED = 200;
const MAX_LINE_CHARS = 300;
const MAX_URI_CHARS = 2_048;

/** None when no server has resources. */
export function resourceTools(servers: readonly McpServer[]): readonly Tool[] {
  if (servers.length === 0) return [];
  const byName = new Map(servers.map((server) => [server.name, server]));
  const find = (name: unknown): McpServer => {
    const found = byName.get(String(name));
    if (found !== undefined) return found;
    throw new ToolError(`No such MCP server with resources. There are: ${[...byName.keys()].join(", ")}.`);
  };
  return [listTool(servers, find), readTool(find)];
}

function listTool(servers: readonly McpServer[], find: (name: unknown) => McpServer): Tool {
  return {
    name: RESOURCES_TOOL,
    label: "ListResources",
    class: "read_only",
    fresh: true,
    description: `List resources and resource templates of MCP servers (${servers.map(({ name }) => name).join(", ")}). Read one with ${READ_RESOURCE_TOOL}.`,
    parameters: objectSchema({
      server: { type: "string" },
      query: { type: "string", maxLength: 500, description: "Words to look for." },
      limit: { type: "integer", minimum: 1, maximum: MAX_LISTED },
    }),
    timeoutMs: Math.max(...servers.map(({ toolTimeoutMs }) => toolTimeoutMs)),
    async run({ server, query, limit }, { ports, signal }) {
      const asked = server === undefined ? servers : [find(server)];
      const lists = await Promise.all(
        asked.map(async ({ name, toolTimeoutMs }) => {
          try {
            const listed = await available(ports.servers.resources(name, toolTimeoutMs, signal));
            return listed.map((resource) => ({ ...resource, server: name }));
          } catch (error) {
            if (asked.length === 1 || signal.aborted) throw error;
            return [`${name}: ${messageOf(error)}`];
          }
        }),
      );
      const all = lists.flat();
      const failed = all.filter((entry) => typeof entry === "string");
      const found = all.filter((entry) => typeof entry !== "string");
      const shown = select(found, query, typeof limit === "number" ? limit : DEFAULT_LISTED);
      const rest = found.length > shown.length ? [`(${shown.length} of ${found.length} are shown)`] : [];
      const lines = [...shown.map(line), ...rest, ...failed];
      return textOutput(lines.length === 0 ? "There are no resources." : lines.join("\n"));
    },
  };
}

type Listed = ServerResource & { readonly server: string };

function select(all: readonly Listed[], query: unknown, limit: number): readonly Listed[] {
  if (typeof query !== "string" || query.trim() === "") return all.slice(0, limit);
  const entries = all.map((resource) => ({ ...resource, name: `${resource.uri} ${resource.name}`, resource }));
  return createToolSearch(entries)
    .find(query, limit)
    .map(({ resource }) => resource);
}

function line({ server, uri, isTemplate, name, description, mimeType, sizeBytes }: Listed): string {
  const facts = [isTemplate ? "template" : "", mimeType ?? "", sizeBytes === undefined ? "" : `${sizeBytes} bytes`];
  const about = [name, facts.filter(Boolean).join(", "), description].filter(Boolean).join("; ");
  return `${server} ${uri}${about === "" ? "" : ` (${about.slice(0, MAX_LINE_CHARS)})`}`;
}

function readTool(find: (name: unknown) => McpServer): Tool {
  return {
    name: READ_RESOURCE_TOOL,
    label: "ReadResource",
    // The address that is read can carry data out, and what a server does with it nobody knows.
    class: "sensitive",
    fresh: true,
    description: `Read a resource of an MCP server by its URI. ${RESOURCES_TOOL} lists them; fill in the braces of a template first.`,
    parameters: objectSchema({ server: { type: "string" }, uri: { type: "string", maxLength: MAX_URI_CHARS } }, [
      "server",
      "uri",
    ]),
    timeoutMs: MAX_ASKING_MS * 2,
    // As somebody writes it in an input, without the sign in front.
    subject: ({ server, uri }) => resourceReference(String(server), String(uri)).slice(1),
    async run(args, context) {
      const server = find(args.server);
      const uri = String(args.uri);
      if (!isResourceUri(uri)) throw new ToolError("That is not a URI: it needs a scheme, and no blanks.");
      const { ports, signal, progress } = context;
      const read = { server: server.name, uri, timeoutMs: server.toolTimeoutMs, onProgress: progress };
      return toolOutput(await available(ports.servers.read({ ...read, onAsk: answering(server, context) }, signal)));
    },
  };
}
