/** `mcp_servers` in `config.toml`, `harness.md` and agent files: MCP servers whose tools the agent may call. */
import { defined, isDomainEntry, visibleLine } from "#base";
import { loadsCode } from "./loader-variables.ts";
import type { DeclaredServer, McpConnection, McpOAuth, McpServer } from "./mcp-server.ts";
import {
  byName,
  choice,
  defineTable,
  error,
  type FieldType,
  field,
  flag,
  forms,
  integer,
  list,
  nested,
  plainValue,
  type Reader,
  type TableValues,
  text,
  textThat,
  words,
  wrongValue,
} from "./schema.ts";
import type { Tree } from "./yaml-tree.ts";

const MAX_ARGS = 256;
const MAX_PATHS = 64;
const MAX_TOOLS = 10_000;
const MAX_DOMAINS = 1000;
const MAX_WAIT_MS = 60_000;
const MAX_CALL_MS = 24 * 60 * 60 * 1000;
const DEFAULT_STARTUP_MS = 3_000;
const DEFAULT_TOOL_MS = 60_000;
/** Words of `/mcp`, of `harness mcp`, and of the tools that all servers share. */
const RESERVED = new Set([
  "approve",
  "restart",
  "list",
  "search",
  "describe",
  "resources",
  "read_resource",
  "get_prompt",
  "sample",
]);
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const domains = list(textThat("host name, address, `*.name` or `*`, without scheme and port", isDomainEntry), {
  max: MAX_DOMAINS,
});
const network = forms<readonly string[] | "public">('`"none"`, `"public"` or a list of hosts', [], (tree) =>
  tree.kind === "list"
    ? (hosts, reader) => domains.read(hosts, reader)
    : (word, reader) => {
        const read = choice("none", "public").read(word, reader);
        return read === "none" ? [] : read;
      },
);
const MAX_PORT = 65_535;
const MAX_SCOPES = 64;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const url = textThat("http or https address without a login", isServerAddress);
const headerValue = textThat("text without control characters", (value) => !hasControl(value));
const toolNames = list(words("tool name"), { max: MAX_TOOLS });

export const serverTable = defineTable(
  "MCP server",
  "A program that is started with the session (`command`), or a server on the network (`url`). Its tools are called `mcp.NAME.TOOL`; each call passes rules, hooks and the log like any other.",
).of({
  command: field(words("program"), "none").means(
    "The program, which speaks MCP on its standard input and output. Either this or `url`.",
  ),
  args: field(list(text(), { max: MAX_ARGS }), "`[]`").means("Its arguments."),
  env: field(byName(text(), "variable"), "none").means(
    "Environment variables for the server. It gets no other variables of your environment, except those in `env_vars`.",
  ),
  env_vars: field(list(words("name of a variable"), { max: MAX_ARGS }), "`[]`").means(
    "Variables of your environment that it gets as they are.",
  ),
  network: field(network, '`"none"`').means(
    "The hosts that the program reaches. `network.allowed_domains` holds as well.",
  ),
  paths: field(
    list(
      textThat("absolute path", (path) => path.startsWith("/")),
      { max: MAX_PATHS },
    ),
    "`[]`",
  ).means("Folders of the machine that it sees, read-only, besides [the usual ones](../security.md#what-both-see)."),
  writable: field(
    list(textThat("folder of the workspace, relative to it, without `..`", isWorkspaceFolder), {
      max: MAX_PATHS,
    }),
    "`[]`",
  ).means(
    "Folders of the workspace that the server may change; `.` is the whole workspace. [Each of its calls then runs in a process of its own](mcp.md#servers-that-change-the-workspace).",
  ),
  sha256: field(
    textThat("SHA-256, 64 hexadecimal digits", (digest) => SHA256.test(digest)),
    "none",
  ).means(
    "The hash of the program. For an interpreter (`node`, `python`, …) it is the hash of the script; for a package that Harness installed, of its lock file. A server with another hash does not start.",
  ),
  sandbox: field(choice("on", "off"), '`"on"`').means(
    "`off`: the program runs without a sandbox, with your rights. Docker and Podman need it.",
  ),
  url: field(url, "none").means("The address of a server on the network."),
  transport: field(choice("http", "sse"), '`"http"`').means(
    "How a server on the network is spoken to: streamable HTTP, or the older HTTP with server-sent events.",
  ),
  http_headers: field(
    byName(headerValue, "header", (name) => HEADER_NAME.test(name)),
    "none",
  ).means("Headers of every request to `url`. Keep secrets out of this file: use the two keys below."),
  env_http_headers: field(
    byName(words("name of a variable"), "header", (name) => HEADER_NAME.test(name)),
    "none",
  ).means("Headers whose values are in variables of your environment. Only the credential helper reads them."),
  bearer_token_env_var: field(words("name of a variable"), "none").means(
    "The variable with a token that is sent as `Authorization: Bearer`.",
  ),
  private_network: field(flag, "`false`").means(
    "`true`: the host name in `url` may belong to a loopback or private address. `localhost` and addresses written as numbers need no permission.",
  ),
  oauth_client_id: field(words("client id"), "none").means(
    "The client that you registered at the authorization server of `url`. Without it, `harness mcp login` registers one.",
  ),
  oauth_client_secret_env_var: field(words("name of a variable"), "none").means(
    "The variable with the secret of that client. Only `harness mcp login` reads it.",
  ),
  oauth_client_metadata_url: field(textThat("https address with a path", isDocumentAddress), "none").means(
    "The address of a client id metadata document that you host. It is the client id where the authorization server accepts such documents.",
  ),
  oauth_callback_port: field(integer(1, MAX_PORT), "any free port").means(
    "The port of `http://127.0.0.1:PORT/callback`, for a client that is registered with a fixed one.",
  ),
  oauth_scopes: field(
    list(
      textThat("scope without spaces", (scope) => SCOPE.test(scope)),
      { max: MAX_SCOPES },
    ),
    "`[]`",
  ).means("Scopes that a login asks for, besides those that the server asks for."),
  enabled: field(flag, "`true`").means("`false`: the entry stays and nothing is started."),
  startup_timeout_ms: field(integer(0, MAX_WAIT_MS), `\`${DEFAULT_STARTUP_MS}\``).means(
    "How long the first request to the model waits for it.",
  ),
  tool_timeout_ms: field(integer(1, MAX_CALL_MS), `\`${DEFAULT_TOOL_MS}\``).means("How long one call may take."),
  discovery: field(choice("auto", "eager", "lazy"), '`"auto"`').means(
    "`eager`: the model sees every tool from the start. `lazy`: it sees names and finds the rest by searching. `auto`: eager up to 20 tools.",
  ),
  enabled_tools: field(toolNames, "all").means("The tools that are offered."),
  disabled_tools: field(toolNames, "`[]`").means("Tools that are not offered."),
  read_only_tools: field(toolNames, "`[]`").means(
    "Tools that change nothing, by your own judgement. What a server says of its tools does not count.",
  ),
  sampling: field(flag, "`false`").means(
    "`true`: while it works on a call, the server may have your model answer it. Each answer needs a rule or a person, and counts as your cost.",
  ),
});

const foreignTable = {
  ...serverTable,
  fields: { ...serverTable.fields, url: { ...serverTable.fields.url, type: words("address") } },
};

const serverType: FieldType<Omit<McpServer, "name"> | "disabled"> = nested(serverTable, toServer);

export const mcpServersType: FieldType<readonly McpServer[]> = (() => {
  const named = byName(serverType, "server: lowercase letters, digits, `-` and `_`, and not a word of `/mcp`", (name) =>
    isServerName(name),
  );
  return {
    ...named,
    read(tree, reader) {
      const read = named.read(tree, reader);
      if (read === undefined) return undefined;
      return Object.entries(read).flatMap(([name, server]) => (server === "disabled" ? [] : [{ name, ...server }]));
    },
  };
})();

/** An entry of `.mcp.json` in the keys of the table. Its address may hold variables, so that it is checked when they are known. */
export function serverOf(tree: Tree, reader: Reader): Omit<McpServer, "name"> | undefined {
  const read = nested(foreignTable, toServer).read(tree, reader);
  return read === "disabled" ? undefined : read;
}

/**
 * What a project cannot say in its entries, and why. `paths` and `private_network` open places that the workspace does not have,
 * `sandbox` the whole machine, `read_only_tools` lets calls run without a question, and `sampling` spends money.
 */
const USER_KEYS = ["paths", "private_network", "read_only_tools", "sampling", "sandbox"] as const;

/** Entries of a project: nothing of them starts before its owner has approved it. */
export const declaredServersType: FieldType<readonly DeclaredServer[]> = {
  shown: mcpServersType.shown,
  ...defined({ tables: mcpServersType.tables }),
  read(tree, reader) {
    const servers = mcpServersType.read(withoutUserKeys(tree, reader), reader);
    for (const { name, connection } of servers ?? []) refuseLoaders(`mcp_servers.${name}: `, connection, tree, reader);
    if (servers === undefined || tree.kind !== "map") return undefined;
    return servers.flatMap((server): DeclaredServer[] => {
      const written = tree.entries.find(({ key }) => key === server.name);
      return written === undefined ? [] : [{ server, entry: plainValue(written.value), place: written.keyPlace }];
    });
  },
};

/** Reports the variables of a project's entry that make its program load code which nobody approved. */
export function refuseLoaders(prefix: string, connection: McpConnection, { place }: Tree, reader: Reader): void {
  if (connection.kind !== "stdio") return;
  for (const variable of Object.keys(connection.env)) {
    const why = loadsCode(variable);
    if (why === undefined) continue;
    const message = `${prefix}a project cannot set ${visibleLine(variable)} in "env": it ${why}. To use it, declare the server in your own config.toml.`;
    reader.report(error("user-variable", place, message));
  }
}

function withoutUserKeys(tree: Tree, reader: Reader): Tree {
  if (tree.kind !== "map") return tree;
  const names: readonly string[] = USER_KEYS;
  const entries = tree.entries.map((server) => {
    const { value } = server;
    if (value.kind !== "map") return server;
    for (const { key, keyPlace } of value.entries.filter(({ key }) => names.includes(key))) {
      const message = `mcp_servers.${server.key}: a project cannot set "${key}". To use it, declare the server in your own config.toml.`;
      reader.report(error("user-key", keyPlace, message));
    }
    return { ...server, value: { ...value, entries: value.entries.filter(({ key }) => !names.includes(key)) } };
  });
  return { ...tree, entries };
}

export function isServerName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}

type Values = TableValues<typeof serverTable.fields>["values"];

function toServer(
  { values }: TableValues<typeof serverTable.fields>,
  reader: Reader,
  tree: Tree,
): Omit<McpServer, "name"> | "disabled" | undefined {
  const connection = toConnection(values);
  if (connection === undefined) return reader.report(wrongValue(tree, "a table with `command` or `url`, and not both"));
  if (values.enabled === false) return "disabled";
  return {
    connection,
    startupTimeoutMs: values.startup_timeout_ms ?? (values.discovery === "lazy" ? 0 : DEFAULT_STARTUP_MS),
    toolTimeoutMs: values.tool_timeout_ms ?? DEFAULT_TOOL_MS,
    discovery: values.discovery ?? "auto",
    ...defined({ enabledTools: values.enabled_tools }),
    disabledTools: values.disabled_tools ?? [],
    readOnlyTools: values.read_only_tools ?? [],
    ...(values.sampling === true && { sampling: true as const }),
  };
}

function toConnection(values: Values): McpConnection | undefined {
  const { command, url: address } = values;
  if ((command === undefined) === (address === undefined)) return undefined;
  if (address !== undefined) {
    return {
      kind: values.transport ?? "http",
      url: address,
      headers: values.http_headers ?? {},
      envHeaders: values.env_http_headers ?? {},
      mayBePrivate: values.private_network === true,
      ...defined({ bearerVariable: values.bearer_token_env_var, oauth: toOAuth(values) }),
    };
  }
  return {
    kind: "stdio",
    command: command ?? "",
    args: values.args ?? [],
    env: values.env ?? {},
    envVars: values.env_vars ?? [],
    network: values.network ?? [],
    paths: values.paths ?? [],
    ...(values.sandbox === "off" && { unconfined: true as const }),
    ...defined({ writable: values.writable, sha256: values.sha256 }),
  };
}

function toOAuth(values: Values): McpOAuth | undefined {
  const oauth: McpOAuth = defined({
    clientId: values.oauth_client_id,
    clientSecretVariable: values.oauth_client_secret_env_var,
    clientMetadataUrl: values.oauth_client_metadata_url,
    callbackPort: values.oauth_callback_port,
    scopes: values.oauth_scopes,
  });
  return Object.keys(oauth).length === 0 ? undefined : oauth;
}

/** As `url` names it. */
export function isServerAddress(address: string): boolean {
  const parsed = URL.parse(address);
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  return isWeb && parsed.username === "" && parsed.password === "";
}

/** As `writable` names them, in an entry and at the approval of one. */
export function isWorkspaceFolder(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..") && !hasControl(path);
}

function isDocumentAddress(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === "https:" && url.pathname !== "/" && url.username === "" && url.password === "";
}

function hasControl(text: string): boolean {
  return [...text].some((char) => char < " " || char === "\x7f");
}
