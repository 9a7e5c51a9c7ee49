/**
 * `.mcp.json` as other agents write it: `mcpServers` with `type`, `command`, `args`, `env`, `url` and `headers`. An entry that cannot be
 * used is left out with a warning, because the file was not written for this program. `${NAME}` is expanded later.
 */
import { isDeeper, isRecord, jsonIn, visibleLine } from "#base";
import type { DeclaredServer } from "./mcp-server.ts";
import { isServerName, refuseLoaders, serverOf } from "./mcp-table.ts";
import type { Problem, SourceLocation } from "./project.ts";
import { error, type Reader, unknownKey, warning } from "./schema.ts";
import type { Tree } from "./yaml-tree.ts";

/** A file of an optional kind: the servers that it declares. */
export interface McpServersContent {
  readonly servers: readonly DeclaredServer[];
}

const MAX_SERVERS = 200;
/** Their own spelling → ours. */
const KEYS = {
  command: "command",
  args: "args",
  env: "env",
  url: "url",
  headers: "http_headers",
  timeout: "tool_timeout_ms",
};
const TRANSPORTS = new Map([
  ["http", "http"],
  ["streamable-http", "http"],
  ["sse", "sse"],
]);
const MAX_DEPTH = 4;
/** Of everything in an entry, also of what has no effect: it is shown whole. */
const MAX_ENTRY_DEPTH = 16;

export function readMcpJson(text: string, reader: Reader): McpServersContent | undefined {
  const place: SourceLocation = { file: reader.file, line: 1, column: 1 };
  const root = jsonIn(text);
  const servers = isRecord(root) ? root.mcpServers : undefined;
  if (!isRecord(servers) || Object.keys(servers).length > MAX_SERVERS) {
    const expected = `a JSON object with "mcpServers", an object with up to ${MAX_SERVERS} servers by name`;
    return reader.report(error("not-mcp-servers", place, "The file does not list MCP servers.", { expected }));
  }
  const read: DeclaredServer[] = [];
  for (const [name, entry] of Object.entries(servers)) {
    const problems: Problem[] = [];
    const declared = readServer(name, entry, place, { ...reader, report: (problem) => void problems.push(problem) });
    const isTaken = read.some(({ server }) => server.name === declared?.server.name);
    if (isTaken) problems.push(error("duplicate-name", place, "another server has the same name in lowercase."));
    const wrong = problems.some(({ severity }) => severity === "error");
    if (declared !== undefined && !wrong) read.push(declared);
    for (const { code, message, expected } of problems) {
      const right = expected === undefined ? "" : ` Expected: ${expected}.`;
      const result = wrong ? " Harness leaves the server out." : "";
      reader.report(warning(code, place, `mcpServers.${visibleLine(name)}: ${message}${right}${result}`));
    }
  }
  return { servers: read };
}

function readServer(
  written: string,
  entry: unknown,
  place: SourceLocation,
  reader: Reader,
): DeclaredServer | undefined {
  // Other agents take capital letters; here a name is part of the names of tools.
  const name = written.toLowerCase();
  if (!isServerName(name)) {
    const expected = "up to 32 letters, digits, - and _, and not a word of /mcp";
    return reader.report(error("wrong-value", place, "this name cannot be used.", { expected }));
  }
  if (!isRecord(entry) || isDeeper(entry, MAX_ENTRY_DEPTH)) {
    return reader.report(error("wrong-value", place, `this is not an object of up to ${MAX_ENTRY_DEPTH} levels.`));
  }
  const { type = entry.url === undefined ? "stdio" : "http", ...fields } = entry;
  const transport = TRANSPORTS.get(String(type));
  if (type !== "stdio" && transport === undefined) {
    return reader.report(
      error("wrong-value", place, `the type ${visibleLine(JSON.stringify(type) ?? "")} is not supported.`),
    );
  }
  for (const key of Object.keys(fields).filter((one) => !Object.hasOwn(KEYS, one))) {
    reader.report(unknownKey("MCP server", key, place, Object.keys(KEYS)));
  }
  const ours = Object.entries(KEYS).flatMap(([theirs, key]) => {
    return Object.hasOwn(fields, theirs) ? [[key, fields[theirs]] as const] : [];
  });
  const values = [...ours, ...(transport === undefined ? [] : [["transport", transport] as const])];
  const tree: Tree = {
    kind: "map",
    place,
    entries: values.map(([key, value]) => ({ key, keyPlace: place, value: treeOf(value, place, MAX_DEPTH) })),
  };
  const server = serverOf(tree, reader);
  if (server !== undefined) refuseLoaders("", server.connection, tree, reader);
  return server === undefined ? undefined : { server: { name, ...server }, entry, place, expands: true };
}

/** All values are where the file is: JSON keeps no lines. What is deeper than any entry is nothing. */
function treeOf(value: unknown, place: SourceLocation, depth: number): Tree {
  if (Array.isArray(value) && depth > 0) {
    return { kind: "list", place, items: value.map((item) => treeOf(item, place, depth - 1)) };
  }
  if (isRecord(value) && depth > 0) {
    const entries = Object.entries(value).map(([key, item]) => {
      return { key, keyPlace: place, value: treeOf(item, place, depth - 1) };
    });
    return { kind: "map", place, entries };
  }
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return { kind: "scalar", place, textPlace: place, linesHold: true, value: isScalar ? value : null };
}
