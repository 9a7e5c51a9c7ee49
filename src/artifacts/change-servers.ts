/** Adds and removes MCP servers in the text of `config.toml`, and leaves everything else as it was written. */
import { ReasonError } from "#protocol";
import { isServerName } from "./mcp-table.ts";
import { parseUserConfig } from "./user-config.ts";

export type ServerChange =
  | {
      readonly add: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly network?: readonly string[] | "public";
      readonly paths: readonly string[];
    }
  | { readonly remove: string };

/** Checked by reading it again: the change is in it, and nothing else has changed. Throws UsageInvalid and ConfigInvalid. */
export async function changeServers(file: string, text: string, change: ServerChange): Promise<string> {
  const before = (await parseUserConfig(file, text)).settings;
  const name = "add" in change ? change.add : change.remove;
  const isThere = text.split("\n").some((line) => isTableOf(line, name));
  if ("add" in change) {
    if (!isServerName(name)) {
      const detail = `'${name}' cannot be the name of an MCP server: use up to 32 small letters, digits, - and _, and no word of harness mcp`;
      throw new ReasonError("UsageInvalid", { detail });
    }
    if (isThere) throw new ReasonError("UsageInvalid", { detail: `${file} has an MCP server '${name}' already` });
  } else if (!isThere) {
    throw new ReasonError("UsageInvalid", { detail: `${file} has no table [mcp_servers.${name}]` });
  }
  const changed = "add" in change ? added(text, change) : removed(text, name);
  const after = (await parseUserConfig(file, changed)).settings;
  const rest = ({ mcpServers, ...others }: typeof before): string =>
    JSON.stringify([mcpServers.filter((server) => server.name !== name), withoutLines(others)]);
  const has = after.mcpServers.some((server) => server.name === name);
  if (rest(after) !== rest(before) || has !== "add" in change) {
    const detail = `${file} cannot be changed without changing something else; edit [mcp_servers.${name}] yourself`;
    throw new ReasonError("ConfigInvalid", { detail });
  }
  return changed;
}

/** Rules say on which line they stand. */
function withoutLines(settings: object): unknown {
  return JSON.parse(JSON.stringify(settings), (key, value) => (key === "source" ? undefined : value));
}

function isTableOf(line: string, name: string): boolean {
  const [, quoted, plain] = /^\[mcp_servers\.(?:"([^"]+)"|([\w-]+))[.\]]/.exec(line) ?? [];
  return (quoted ?? plain) === name;
}

function added(text: string, change: Extract<ServerChange, { add: string }>): string {
  const { add, command, args, env, network, paths } = change;
  const values: [string, unknown][] = [
    ["command", command],
    ...(args.length > 0 ? [["args", args] as [string, unknown]] : []),
    ...(network === undefined ? [] : [["network", network] as [string, unknown]]),
    ...(paths.length > 0 ? [["paths", paths] as [string, unknown]] : []),
  ];
  // Texts and lists of texts are written alike in JSON and TOML.
  const lines = values.map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const variables = Object.entries(env).map(([key, value]) => `${JSON.stringify(key)} = ${JSON.stringify(value)}`);
  const tables = [
    `[mcp_servers.${add}]`,
    ...lines,
    ...(variables.length === 0 ? [] : ["", `[mcp_servers.${add}.env]`, ...variables]),
  ];
  const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}${tables.join("\n")}\n`;
}

function removed(text: string, name: string): string {
  let isOut = false;
  const kept = text.split("\n").filter((line) => {
    if (line.startsWith("[")) isOut = isTableOf(line, name);
    return !isOut;
  });
  return kept.join("\n").replace(/\n{3,}/g, "\n\n");
}
