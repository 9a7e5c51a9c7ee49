/** Adds and removes MCP servers in the text of `config.toml`, and leaves everything else as it was written. */
import { ReasonError } from "#protocol";
import { isServerName } from "./mcp-table.ts";
import { parseUserConfig } from "./user-config.ts";

export type ServerChange =
  | {
      readonly add: string;
      readonly url: string;
      readonly transport?: "http" | "sse";
      readonly headers: Readonly<Record<string, string>>;
      readonly bearerVariable?: string;
    }
  | {
      readonly add: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly network?: readonly string[] | "public";
      readonly paths: readonly string[];
      readonly writable: readonly string[];
      readonly sha256?: string;
    }
  | { readonly turn: string; readonly enabled: boolean }
  | { readonly pin: string; readonly sha256: string }
  | { readonly remove: string };

/** Checked by reading it again: the change is in it, and nothing else has changed. Throws UsageInvalid and ConfigInvalid. */
export async function changeServers(file: string, text: string, change: ServerChange): Promise<string> {
  const before = (await parseUserConfig(file, text)).settings;
  const name = nameIn(change);
  const isThere = text.split("\n").some((line) => isTableOf(line, name));
  if ("add" in change) {
    if (!isServerName(name)) {
      const detail = `'${name}' cannot be the name of an MCP server: use up to 32 lowercase letters, digits, - and _, and not a subcommand of harness mcp`;
      throw new ReasonError("UsageInvalid", detail);
    }
    if (isThere) throw new ReasonError("UsageInvalid", `${file} already has an MCP server '${name}'`);
  } else if (!isThere) {
    throw new ReasonError("UsageInvalid", `${file} has no table [mcp_servers.${name}]`);
  }
  const changed = applied(text, change);
  const after = (await parseUserConfig(file, changed)).settings;
  const rest = ({ mcpServers, origins: { mcp_servers: _, ...origins }, ...others }: typeof before): string =>
    JSON.stringify([mcpServers.filter((server) => server.name !== name), origins, withoutLines(others)]);
  const has = after.mcpServers.some((server) => server.name === name);
  const wasThere = before.mcpServers.some((server) => server.name === name);
  if (rest(after) !== rest(before) || has !== isThereAfter(change, wasThere)) {
    const detail = `${file} cannot be changed without changing something else; edit [mcp_servers.${name}] yourself`;
    throw new ReasonError("ConfigInvalid", detail);
  }
  return changed;
}

function nameIn(change: ServerChange): string {
  if ("add" in change) return change.add;
  if ("pin" in change) return change.pin;
  return "turn" in change ? change.turn : change.remove;
}

function applied(text: string, change: ServerChange): string {
  if ("add" in change) return added(text, change);
  if ("pin" in change) return withKey(text, change.pin, "sha256", `"${change.sha256}"`);
  return "turn" in change
    ? withKey(text, change.turn, "enabled", change.enabled ? undefined : "false")
    : removed(text, change.remove);
}

/** Among those that are started. */
function isThereAfter(change: ServerChange, wasThere: boolean): boolean {
  if ("pin" in change) return wasThere;
  return "add" in change || ("turn" in change && change.enabled);
}

/** In the table itself, not in those below it. Undefined: without the key. */
function withKey(text: string, name: string, key: string, value: string | undefined): string {
  const isKey = new RegExp(`^\\s*${key}\\s*=`);
  let isIn = false;
  const lines = text.split("\n").flatMap((line) => {
    if (line.startsWith("[")) {
      isIn = isTableOf(line, name) && !/^\[[^\]]*\.[^.\]]+\.[^.\]]+\]/.test(line);
      return isIn && value !== undefined ? [line, `${key} = ${value}`] : [line];
    }
    return isIn && isKey.test(line) ? [] : [line];
  });
  return lines.join("\n");
}

/** Rules say on which line they stand. */
function withoutLines(settings: object): unknown {
  return JSON.parse(JSON.stringify(settings), (key, value) => (key === "source" ? undefined : value));
}

function isTableOf(line: string, name: string): boolean {
  return serverOfTable(line) === name;
}

function serverOfTable(line: string): string | undefined {
  const [, quoted, plain] = /^\[mcp_servers\.(?:"([^"]+)"|([\w-]+))[.\]]/.exec(line) ?? [];
  return quoted ?? plain;
}

/** The servers that have a table in a configuration file, disabled ones too. */
export function writtenServers(text: string): ReadonlySet<string> {
  return new Set(text.split("\n").flatMap((line) => serverOfTable(line) ?? []));
}

function added(text: string, change: Extract<ServerChange, { add: string }>): string {
  const { values, table, named } = "url" in change ? remoteEntry(change) : programEntry(change);
  // Texts and lists of texts are written alike in JSON and TOML.
  const line = ([key, value]: readonly [string, unknown]) => `${key} = ${JSON.stringify(value)}`;
  const lines = Object.entries(values).filter(([, value]) => value !== undefined && !isEmpty(value));
  const inTable = Object.entries(named).map(([key, value]) => line([JSON.stringify(key), value]));
  const tables = [
    `[mcp_servers.${change.add}]`,
    ...lines.map(line),
    ...(inTable.length === 0 ? [] : ["", `[mcp_servers.${change.add}.${table}]`, ...inTable]),
  ];
  const gap = text === "" || text.endsWith("\n\n") ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}${tables.join("\n")}\n`;
}

interface Entry {
  readonly values: Readonly<Record<string, unknown>>;
  readonly table: string;
  readonly named: Readonly<Record<string, string>>;
}

function remoteEntry({ url, transport, headers, bearerVariable }: Extract<ServerChange, { url: string }>): Entry {
  return { values: { url, transport, bearer_token_env_var: bearerVariable }, table: "http_headers", named: headers };
}

function programEntry({ env, add: _, ...values }: Extract<ServerChange, { command: string }>): Entry {
  return { values: { ...values }, table: "env", named: env };
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function removed(text: string, name: string): string {
  let isOut = false;
  const kept = text.split("\n").filter((line) => {
    if (line.startsWith("[")) isOut = isTableOf(line, name);
    return !isOut;
  });
  return kept.join("\n").replace(/\n{3,}/g, "\n\n");
}
